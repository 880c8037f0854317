// platen.json: what a snapshot was trained to read. Private to this folder's sources.
#pragma once

#include <string>

#include "model/config.h"

namespace platen {

// Standard prompts and block granularity if there is no such file.
// Throws Error(kModel) naming file and field; unknown keys are refused, as the format is ours.
ReadingConfig ReadReadingConfig(const std::string& path);

}  // namespace platen
