// Options of platen ocr that bound a run: its time, its pages, its share of the machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "apps/platen/cli/option_table.h"
#include "apps/platen/cli/settings.h"
#include "pipeline/page_limits.h"

namespace platen {

void AddLimits(OptionTable& table);

TimeLimits TimeLimitsFrom(const Settings& settings);

// How long a call that reads an input is waited for; see InputFile.
double PatienceFrom(const Settings& settings);

// When no further page is begun, at the latest; nothing: never. Throws Error(kUsage), as the next
// does, for a value that cannot be understood.
std::optional<std::chrono::system_clock::time_point> DeadlineFrom(const Settings& settings);

// Of --memory-limit; 0: what the machine and the container have.
int64_t MemoryLimitFrom(const Settings& settings);

// Lowers the priority of this process, and of what it starts from now on.
void LowerPriority(const Settings& settings);

}  // namespace platen
