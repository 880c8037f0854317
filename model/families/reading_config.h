// platen.json: what a snapshot was trained to read, and how its weights are quantised.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/quantization_plan.h"

namespace platen {

// Optional platen.json: what the model was trained to read. Absent: blocks, the three standard
// prompts, no scaling of crops.
struct ReadingConfig {
  enum class Granularity { kLine, kBlock, kPage };
  bool present = false;
  Granularity granularity = Granularity::kBlock;
  bool states_granularity = false;  // it is what the model was trained for, and nothing else is
  int line_height = 0;              // pixels of a line crop; 0: crops keep their size
  double x_height = 0;              // of small letters in a line crop, pixels; 0: not given
  double baseline = 0;              // from the top of a line crop, pixels; 0: not given
  int max_width = 0;  // of a line crop, pixels; wider lines are cut at word gaps; 0: no limit
  std::map<std::string, std::string> prompts;  // task -> prompt text
  std::vector<std::string> scripts;            // scripts it was trained on; empty: not stated
  std::vector<std::string> tasks;              // tasks it was trained on; empty: all
};

// "line", "block" or "page", as in platen.json.
const char* GranularityName(ReadingConfig::Granularity granularity);

// Standard prompts and block granularity if there is no such file.
// `image_placeholder` may not occur in a prompt (Architecture::image_placeholder); empty: no such
// rule. Throws Error(kModel) naming file and field; unknown keys are refused, as the format is
// ours.
ReadingConfig ReadReadingConfig(const std::string& path, std::string_view image_placeholder);

// Its key "int8"; the default groups if there is none. The patterns are not looked at yet: see
// QuantizationPlan::Check. Throws as above.
QuantizationPlan ReadQuantizationPlan(const std::string& path);

}  // namespace platen
