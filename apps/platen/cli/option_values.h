// Values of options as they are written, and whether an option may have them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/platen/cli/option_table.h"

namespace platen {

// "a,b" -> "a", "b"; "" -> "".
std::vector<std::string> SplitList(const std::string& text, char separator = ',');

// Throws Error(kUsage) unless `value` is of the option's type and in its range. `where` names the
// place it came from: "--threads", "PLATEN_MODEL" or "run.json: threads".
void CheckValue(const OptionSpec& option, const std::string& value, const std::string& where);

// A value that has been checked.
double NumberOf(const std::string& value);

// "512M", "6G", "6GiB": bytes, with K, M, G or T for powers of 1024. Throws Error(kUsage) for
// anything else and for less than `least`.
int64_t ByteCount(const std::string& text, int64_t least, const std::string& where);

// Throws Error(kUsage): "where: reason".
[[noreturn]] void ThrowUsage(const std::string& where, const std::string& reason);

}  // namespace platen
