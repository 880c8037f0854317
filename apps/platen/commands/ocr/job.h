// What a run of platen ocr has to do.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "apps/platen/cli/settings.h"
#include "apps/platen/cli/spooled_input.h"
#include "apps/platen/commands/ocr/ocr_target.h"
#include "pipeline/shard.h"
#include "stages/inputs/discover.h"

namespace platen {

struct Job {
  explicit Job(const Settings& settings) : target(settings) {}
  OcrTarget target;
  std::unique_ptr<SpooledInput> standard_input;
  Discovery discovery;
  Shard shard;
  // When no further page is begun. As of the start: to list many documents takes its time.
  std::optional<std::chrono::system_clock::time_point> deadline;
};

// Everything that can be refused is refused here, before anything is written or read and before the
// model is loaded. Throws Error.
std::unique_ptr<Job> FindWork(const Settings& settings);

}  // namespace platen
