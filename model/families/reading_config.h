// platen.json: what a snapshot was trained to read, and how its weights are quantised.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/quantization_plan.h"
#include "model/families/region_kind.h"

namespace platen {

// What the model is shown at once.
enum class Granularity { kLine, kBlock, kPage };

// How the text that the model writes is to be taken.
enum class TextSyntax { kPlain, kMarkdown, kHtml, kLatex };

// How the tokens of a kind are decoded, where a run says nothing else; see SamplingOptions and
// Request.
struct KindDecoding {
  float temperature = 0;
  int top_k = 0;
  float top_p = 1;
  float repetition_penalty = 1;
  int min_new_tokens = 0;
  int draft_length = -1;
};

// How the regions of one kind are read.
struct KindReading {
  bool read = true;           // false: the region is kept in the results, without text
  bool read_as_text = false;  // the model was not trained on this kind's own task
  std::string prompt;
  std::optional<Granularity> granularity;  // kLine or kBlock; nothing: the model's
  int max_new_tokens = 0;                  // of one crop; 0: derived from the crop's size
  TextSyntax syntax = TextSyntax::kPlain;
  KindDecoding decoding;
  bool stated = false;  // platen.json says something about this kind
};

// Optional platen.json: what the model was trained to read. Absent: blocks, the three standard
// prompts, no scaling of crops.
struct ReadingConfig {
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
  double doubtful_below = 0.9;  // mean token probability of a page that looks like no such script
  // By RegionKind. A kind of a task that the model was not trained on is read as text.
  std::array<KindReading, kNumRegionKinds> kinds;

  const KindReading& Of(RegionKind kind) const { return kinds[static_cast<size_t>(kind)]; }
};

// "line", "block" or "page", and "plain", "markdown", "html" or "latex", as in platen.json.
const char* GranularityName(Granularity granularity);
const char* SyntaxName(TextSyntax syntax);
std::optional<TextSyntax> FindSyntax(std::string_view name);

// `kinds` of a configuration whose prompts and tasks are known: tables and formulas as a whole by
// their own prompts, figures and charts not at all, everything else by the prompt of "text".
void SetStandardKinds(ReadingConfig& config);

// Standard prompts and block granularity if there is no such file.
// `image_placeholder` may not occur in a prompt (Architecture::image_placeholder); empty: no such
// rule. Throws Error(kModel) naming file and field; unknown keys are refused, as the format is
// ours.
ReadingConfig ReadReadingConfig(const std::string& path, std::string_view image_placeholder);

// Its key "int8"; the default groups if there is none. The patterns are not looked at yet: see
// QuantizationPlan::Check. Throws as above.
QuantizationPlan ReadQuantizationPlan(const std::string& path);

}  // namespace platen
