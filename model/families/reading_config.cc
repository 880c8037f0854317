#include "model/families/reading_config.h"

#include <algorithm>

#include "model/support/json_fields.h"

namespace platen {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr size_t kMaxPromptBytes = 4096;
constexpr size_t kMaxScripts = 256;
constexpr size_t kMaxPatterns = 1000;
constexpr size_t kMaxPatternBytes = 256;
constexpr int kMinLineHeight = 8;
constexpr int kMaxLineHeight = 1024;
constexpr int kMaxCropWidth = 1 << 16;

// The prompts the released model was trained with.
const std::map<std::string, std::string>& StandardPrompts() {
  static const auto& prompts = *new std::map<std::string, std::string>{
      {"text", "Text Recognition:"},
      {"table", "Table Recognition:"},
      {"formula", "Formula Recognition:"},
  };
  return prompts;
}

ReadingConfig::Granularity ReadGranularity(const JsonObject& root) {
  using Granularity = ReadingConfig::Granularity;
  const std::string name = root.String("granularity", 16);
  for (const Granularity value : {Granularity::kLine, Granularity::kBlock, Granularity::kPage}) {
    if (name == GranularityName(value)) return value;
  }
  root.Fail("granularity", "must be line, block or page, not " + JsonExcerpt(name));
}

void ReadLineGeometry(const JsonObject& root, ReadingConfig& out) {
  if (root.Has("line_height")) {
    out.line_height = root.Int("line_height", kMinLineHeight, kMaxLineHeight);
  }
  for (const char* key : {"x_height", "baseline"}) {
    if (root.Has(key) && out.line_height == 0) root.Fail(key, "needs line_height");
  }
  if (root.Has("baseline")) out.baseline = root.Number("baseline", 1.0, out.line_height);
  if (root.Has("x_height")) {
    out.x_height = root.Number("x_height", 1.0, out.baseline > 0 ? out.baseline : out.line_height);
  }
  if (root.Has("max_width")) {
    out.max_width = root.Int("max_width", std::max(out.line_height, 1), kMaxCropWidth);
  }
}

void ReadPrompts(const JsonObject& prompts, std::string_view image_placeholder,
                 ReadingConfig& out) {
  prompts.RefuseUnknownKeys({"text", "table", "formula"});
  for (auto& [task, prompt] : out.prompts) {
    if (!prompts.Has(task)) continue;
    prompt = prompts.String(task, kMaxPromptBytes);
    if (prompt.empty()) prompts.Fail(task, "must not be empty");
    // BuildPrompt adds the image tokens itself.
    if (!image_placeholder.empty() && prompt.find(image_placeholder) != std::string::npos) {
      prompts.Fail(task, "must not contain " + std::string(image_placeholder) +
                             "; the image comes before the prompt");
    }
  }
}

int ReadGroup(const JsonObject& object, const std::string& key) {
  const int group = object.Int(key, 0, WeightFormat::kLargestGroup);
  if (WeightFormat::IsGroup(group)) return group;
  object.Fail(key, "must be a multiple of " + std::to_string(WeightFormat::kGroupStep) +
                       ", or 0 for one group over the whole depth, not " + std::to_string(group));
}

}  // namespace

const char* GranularityName(ReadingConfig::Granularity granularity) {
  switch (granularity) {
    case ReadingConfig::Granularity::kLine:
      return "line";
    case ReadingConfig::Granularity::kBlock:
      return "block";
    case ReadingConfig::Granularity::kPage:
      return "page";
  }
  return "";
}

ReadingConfig ReadReadingConfig(const std::string& path, std::string_view image_placeholder) {
  ReadingConfig out;
  out.prompts = StandardPrompts();
  if (!FileExists(path)) return out;

  const nlohmann::json json = ReadJsonFile(path, kMaxFileBytes);
  const JsonObject root(json, path);
  root.RefuseUnknownKeys({"granularity", "line_height", "x_height", "baseline", "max_width",
                          "prompts", "scripts", "tasks", "int8"});
  out.present = true;
  out.states_granularity = root.Has("granularity");
  if (out.states_granularity) out.granularity = ReadGranularity(root);
  ReadLineGeometry(root, out);
  if (root.Has("prompts")) ReadPrompts(root.Object("prompts"), image_placeholder, out);
  if (root.Has("scripts")) out.scripts = root.Strings("scripts", kMaxScripts);
  if (root.Has("tasks")) {
    out.tasks = root.Strings("tasks", out.prompts.size());
    for (const std::string& task : out.tasks) {
      if (!out.prompts.contains(task)) {
        root.Fail("tasks", "unknown task " + JsonExcerpt(task) + "; known: formula, table, text");
      }
    }
  }
  return out;
}

QuantizationPlan ReadQuantizationPlan(const std::string& path) {
  QuantizationPlan plan;
  if (!FileExists(path)) return plan;
  const nlohmann::json json = ReadJsonFile(path, kMaxFileBytes);
  const JsonObject root(json, path);
  if (!root.Has("int8")) return plan;
  const JsonObject int8 = root.Object("int8");
  int8.RefuseUnknownKeys({"group", "groups"});
  if (int8.Has("group")) plan.set_group(ReadGroup(int8, "group"));
  if (!int8.Has("groups")) return plan;
  const JsonObject groups = int8.Object("groups");
  if (groups.value().size() > kMaxPatterns) {
    int8.Fail("groups", "has more than " + std::to_string(kMaxPatterns) + " entries");
  }
  for (const auto& [pattern, unused] : groups.value().items()) {
    if (pattern.size() > kMaxPatternBytes) int8.Fail("groups", "has a key that is too long");
    plan.Set(pattern, ReadGroup(groups, pattern));
  }
  return plan;
}

}  // namespace platen
