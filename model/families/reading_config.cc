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
constexpr int kMaxNewTokens = 1 << 20;

// The prompts the released model was trained with.
const std::map<std::string, std::string>& StandardPrompts() {
  static const auto& prompts = *new std::map<std::string, std::string>{
      {"text", "Text Recognition:"},
      {"table", "Table Recognition:"},
      {"formula", "Formula Recognition:"},
  };
  return prompts;
}

Granularity ReadGranularity(const JsonObject& root) {
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

std::string ReadPrompt(const JsonObject& object, const std::string& key,
                       std::string_view image_placeholder) {
  std::string prompt = object.String(key, kMaxPromptBytes);
  if (prompt.empty()) object.Fail(key, "must not be empty");
  // BuildPrompt adds the image tokens itself.
  if (!image_placeholder.empty() && prompt.find(image_placeholder) != std::string::npos) {
    object.Fail(key, "must not contain " + std::string(image_placeholder) +
                         "; the image comes before the prompt");
  }
  return prompt;
}

void ReadPrompts(const JsonObject& prompts, std::string_view image_placeholder,
                 ReadingConfig& out) {
  prompts.RefuseUnknownKeys({"text", "table", "formula"});
  for (auto& [task, prompt] : out.prompts) {
    if (prompts.Has(task)) prompt = ReadPrompt(prompts, task, image_placeholder);
  }
}

// The task by which a kind is read; nothing: it is not text.
std::optional<std::string> TaskOf(RegionKind kind) {
  switch (kind) {
    case RegionKind::kTable:
      return "table";
    case RegionKind::kFormula:
      return "formula";
    case RegionKind::kFigure:
    case RegionKind::kChart:
      return std::nullopt;
    default:
      return "text";
  }
}

TextSyntax ReadSyntax(const JsonObject& entry) {
  const std::string name = entry.String("syntax", 16);
  if (const std::optional<TextSyntax> syntax = FindSyntax(name)) return *syntax;
  entry.Fail("syntax", "must be plain, markdown, html or latex, not " + JsonExcerpt(name));
}

// The bounds are those of the options of the same names.
KindDecoding ReadKindDecoding(const JsonObject& entry) {
  KindDecoding out;
  const auto number = [&](const char* key, double low, double high, float& value) {
    if (entry.Has(key)) value = static_cast<float>(entry.Number(key, low, high));
  };
  const auto integer = [&](const char* key, int low, int high, int& value) {
    if (entry.Has(key)) value = entry.Int(key, low, high);
  };
  number("temperature", 0, 100, out.temperature);
  number("top_p", 1e-6, 1, out.top_p);
  number("repetition_penalty", 0.5, 2, out.repetition_penalty);
  integer("top_k", 0, 1 << 20, out.top_k);
  integer("min_new_tokens", 0, kMaxNewTokens, out.min_new_tokens);
  integer("draft_length", 0, 8, out.draft_length);
  return out;
}

void ReadKind(const JsonObject& entry, std::string_view image_placeholder, KindReading& out) {
  entry.RefuseUnknownKeys({"read", "prompt", "granularity", "max_new_tokens", "syntax",
                           "temperature", "top_k", "top_p", "repetition_penalty", "min_new_tokens",
                           "draft_length"});
  out.stated = true;
  if (entry.Has("prompt")) {
    out.prompt = ReadPrompt(entry, "prompt", image_placeholder);
    out.read = true;
    out.read_as_text = false;
  }
  if (entry.Has("read")) out.read = entry.Bool("read");
  if (out.read && out.prompt.empty()) entry.Fail("read", "needs a prompt");
  if (entry.Has("granularity")) {
    out.granularity = ReadGranularity(entry);
    if (out.granularity == Granularity::kPage) {
      entry.Fail("granularity", "must be line or block: a region is part of a page");
    }
  }
  if (entry.Has("max_new_tokens")) {
    out.max_new_tokens = entry.Int("max_new_tokens", 1, kMaxNewTokens);
  }
  if (entry.Has("syntax")) out.syntax = ReadSyntax(entry);
  out.decoding = ReadKindDecoding(entry);
}

void ReadKinds(const JsonObject& kinds, std::string_view image_placeholder, ReadingConfig& out) {
  kinds.RefuseUnknownKeys(RegionKindNames());
  for (size_t i = 0; i < kNumRegionKinds; ++i) {
    const std::string name(RegionKindNames()[i]);
    if (kinds.Has(name)) ReadKind(kinds.Object(name), image_placeholder, out.kinds[i]);
  }
}

int ReadGroup(const JsonObject& object, const std::string& key) {
  const int group = object.Int(key, 0, WeightFormat::kLargestGroup);
  if (WeightFormat::IsGroup(group)) return group;
  object.Fail(key, "must be a multiple of " + std::to_string(WeightFormat::kGroupStep) +
                       ", or 0 for one group over the whole depth, not " + std::to_string(group));
}

}  // namespace

const char* GranularityName(Granularity granularity) {
  switch (granularity) {
    case Granularity::kLine:
      return "line";
    case Granularity::kBlock:
      return "block";
    case Granularity::kPage:
      return "page";
  }
  return "";
}

const char* SyntaxName(TextSyntax syntax) {
  switch (syntax) {
    case TextSyntax::kPlain:
      return "plain";
    case TextSyntax::kMarkdown:
      return "markdown";
    case TextSyntax::kHtml:
      return "html";
    case TextSyntax::kLatex:
      return "latex";
  }
  return "";
}

std::optional<TextSyntax> FindSyntax(std::string_view name) {
  for (const TextSyntax syntax :
       {TextSyntax::kPlain, TextSyntax::kMarkdown, TextSyntax::kHtml, TextSyntax::kLatex}) {
    if (name == SyntaxName(syntax)) return syntax;
  }
  return std::nullopt;
}

void SetStandardKinds(ReadingConfig& config) {
  const auto trained = [&](const std::string& task) {
    const auto& tasks = config.tasks;
    return tasks.empty() || std::find(tasks.begin(), tasks.end(), task) != tasks.end();
  };
  for (size_t i = 0; i < kNumRegionKinds; ++i) {
    KindReading& reading = config.kinds[i];
    reading = {};
    const auto kind = static_cast<RegionKind>(i);
    const std::optional<std::string> task = TaskOf(kind);
    reading.read = task.has_value();
    const std::string of = task && trained(*task) ? *task : "text";
    reading.read_as_text = task && of != *task;
    if (reading.read) reading.prompt = config.prompts.at(of);
    if (of == "text") continue;
    reading.granularity = Granularity::kBlock;
    reading.syntax = kind == RegionKind::kTable ? TextSyntax::kHtml : TextSyntax::kLatex;
  }
}

ReadingConfig ReadReadingConfig(const std::string& path, std::string_view image_placeholder) {
  ReadingConfig out;
  out.prompts = StandardPrompts();
  SetStandardKinds(out);
  if (!FileExists(path)) return out;

  const nlohmann::json json = ReadJsonFile(path, kMaxFileBytes);
  const JsonObject root(json, path);
  root.RefuseUnknownKeys({"granularity", "line_height", "x_height", "baseline", "max_width",
                          "prompts", "scripts", "doubtful_below", "tasks", "kinds", "int8",
                          // Of a family: it reads and checks it itself.
                          "attention_index"});
  out.present = true;
  out.states_granularity = root.Has("granularity");
  if (out.states_granularity) out.granularity = ReadGranularity(root);
  ReadLineGeometry(root, out);
  if (root.Has("prompts")) ReadPrompts(root.Object("prompts"), image_placeholder, out);
  if (root.Has("scripts")) out.scripts = root.Strings("scripts", kMaxScripts);
  if (root.Has("doubtful_below")) {
    if (out.scripts.empty()) root.Fail("doubtful_below", "needs scripts");
    out.doubtful_below = root.Number("doubtful_below", 0, 1);
  }
  if (root.Has("tasks")) {
    out.tasks = root.Strings("tasks", out.prompts.size());
    for (const std::string& task : out.tasks) {
      if (!out.prompts.contains(task)) {
        root.Fail("tasks", "unknown task " + JsonExcerpt(task) + "; known: formula, table, text");
      }
    }
  }
  SetStandardKinds(out);
  if (root.Has("kinds")) ReadKinds(root.Object("kinds"), image_placeholder, out);
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
