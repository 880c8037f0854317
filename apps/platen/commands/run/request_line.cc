#include "apps/platen/commands/run/request_line.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "model/engine/stop_strings.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"
#include "stages/readers/document_reader.h"

namespace platen {
namespace {

constexpr size_t kMostPathBytes = 4096;
constexpr size_t kMostPromptBytes = 1 << 16;
constexpr size_t kMostIdBytes = 1024;
constexpr size_t kMostImages = 64;
constexpr size_t kMostMessages = 1024;
constexpr int kMostTokens = 1 << 20;
constexpr int64_t kMostExactInteger = int64_t{1} << 53;

std::string Below(const std::string& folder, const std::string& path) {
  return folder.empty() || path.starts_with('/') ? path : folder + "/" + path;
}

Image ReadPage(const std::string& path, int page, const RequestDefaults& defaults) {
  ReadLimits limits;
  if (defaults.max_pixels > 0) limits.max_pixels = defaults.max_pixels;
  const auto reader = DocumentReader::Open(Below(defaults.folder, path), limits);
  if (page > reader->num_pages()) {
    throw Error(
        ErrorKind::kInput, {path, ""},
        "has " + std::to_string(reader->num_pages()) + " pages, not " + std::to_string(page));
  }
  return reader->ReadPage(page - 1).image;
}

// Errors name the image as the line does.
Image ReadImage(const std::string& path, int page, const RequestDefaults& defaults) {
  try {
    return ReadPage(path, page, defaults);
  } catch (const Error& e) {
    throw Error(e.kind(), {path, e.location().field, e.location().offset}, e.reason(), e.code());
  }
}

void AddImages(const JsonObject& line, const Model& model, const RequestDefaults& defaults,
               Request& request) {
  if (!line.Has("images")) return;
  const nlohmann::json& images = line.Required("images");
  if (!images.is_array()) line.Fail("images", "must be a list of paths");
  if (images.size() > kMostImages) {
    line.Fail("images", "has more than " + std::to_string(kMostImages) + " entries");
  }
  const VisionModel& vision = RequireVision(model);
  for (size_t i = 0; i < images.size(); ++i) {
    const nlohmann::json& image = images[i];
    if (image.is_string()) {
      request.images.push_back(vision.Prepare(ReadImage(image.get<std::string>(), 1, defaults)));
      continue;
    }
    const JsonObject entry(image, line.file(), "images[" + std::to_string(i) + "]");
    entry.RefuseUnknownKeys({"path", "page"});
    const int page = entry.Has("page") ? entry.Int("page", 1, 1 << 24) : 1;
    request.images.push_back(
        vision.Prepare(ReadImage(entry.String("path", kMostPathBytes), page, defaults)));
  }
}

std::string PromptOf(const JsonObject& line, const RequestDefaults& defaults) {
  if (line.Has("prompt")) {
    if (line.Has("task")) line.Fail("task", "stands beside prompt; give one of them");
    return line.String("prompt", kMostPromptBytes);
  }
  const std::string task = line.Has("task") ? line.String("task", 64) : "text";
  const auto prompt = defaults.prompts.find(task);
  if (prompt == defaults.prompts.end()) {
    std::string known;
    for (const auto& [name, text] : defaults.prompts) known += (known.empty() ? "" : ", ") + name;
    line.Fail("task", "is " + JsonExcerpt(task) + ", not one of " + known);
  }
  return prompt->second;
}

// [{"role", "content"}, ...], in place of images and a prompt.
void AddMessages(const JsonObject& line, Request& request) {
  if (!line.Has("messages")) return;
  for (const char* other : {"images", "prompt", "task"}) {
    if (line.Has(other)) line.Fail(other, "stands beside messages; give one of them");
  }
  const nlohmann::json& messages = line.Required("messages");
  if (!messages.is_array() || messages.empty() || messages.size() > kMostMessages) {
    line.Fail("messages", "must be a list of 1.." + std::to_string(kMostMessages) + " turns");
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    const JsonObject turn(messages[i], line.file(), "messages[" + std::to_string(i) + "]");
    turn.RefuseUnknownKeys({"role", "content"});
    const std::string role = turn.String("role", 32);
    if (role != "system" && role != "user" && role != "assistant") {
      turn.Fail("role", "must be system, user or assistant");
    }
    request.messages.push_back({role, turn.String("content", kMostPromptBytes)});
  }
}

SamplingOptions SamplingOf(const JsonObject& line, SamplingOptions sampling) {
  const auto number = [&](const char* key, double low, double high, float& value) {
    if (line.Has(key)) value = static_cast<float>(line.Number(key, low, high));
  };
  number("temperature", 0, 100, sampling.temperature);
  number("top_p", 0, 1, sampling.top_p);
  number("repetition_penalty", 0, 100, sampling.repetition_penalty);
  if (line.Has("top_k")) sampling.top_k = line.Int("top_k", 0, kMostTokens);
  if (line.Has("seed")) {
    sampling.seed = static_cast<uint64_t>(line.Int64("seed", 0, kMostExactInteger));
  }
  if (line.Has("acceptance")) {
    const std::string name = line.String("acceptance", 32);
    const std::optional<AcceptanceRule> rule = FindAcceptanceRule(name);
    if (!rule) line.Fail("acceptance", "must be exact, rejection or typical");
    sampling.acceptance = *rule;
  }
  CheckSamplingOptions(sampling);
  return sampling;
}

void AddLimits(const JsonObject& line, const RequestDefaults& defaults, Request& request) {
  request.max_new_tokens = line.Has("max_new_tokens") ? line.Int("max_new_tokens", 1, kMostTokens)
                                                      : defaults.max_new_tokens;
  if (line.Has("min_new_tokens")) {
    request.min_new_tokens = line.Int("min_new_tokens", 0, kMostTokens);
  }
  if (line.Has("stop")) request.stop_strings = line.Strings("stop", kMostStopStrings);
  CheckStopStrings(request.stop_strings);
  if (line.Has("draft_length")) request.drafting.length = line.Int("draft_length", 0, 8);
  if (line.Has("drafters")) {
    const auto drafters = FindDrafterChoice(line.String("drafters", 32));
    if (!drafters) line.Fail("drafters", "must be auto, mtp, ngram, mtp,ngram or none");
    request.drafting.drafters = *drafters;
  }
}

}  // namespace

std::string IdOfRequestLine(const std::string& text) {
  try {
    const nlohmann::json json = ParseJson(text, "", 0);
    return JsonObject(json, "").String("id", kMostIdBytes);
  } catch (const Error&) {
    return "";
  }
}

RequestLine ReadRequestLine(const std::string& text, const Model& model,
                            const RequestDefaults& defaults) {
  const nlohmann::json json = ParseJson(text, "", 0);
  const JsonObject line(json, "");
  line.RefuseUnknownKeys({"id", "images", "prompt", "task", "messages", "max_new_tokens",
                          "min_new_tokens", "stop", "temperature", "top_k", "top_p",
                          "repetition_penalty", "seed", "acceptance", "draft_length", "drafters"});
  if (!line.Has("images") && !line.Has("prompt") && !line.Has("task") && !line.Has("messages")) {
    line.Fail("prompt", "is needed, or messages, where there are no images");
  }
  RequestLine read;
  if (line.Has("id")) read.id = line.String("id", kMostIdBytes);
  Request& request = read.request;
  AddMessages(line, request);
  if (request.messages.empty()) request.task_text = PromptOf(line, defaults);
  request.sampling = SamplingOf(line, defaults.sampling);
  AddLimits(line, defaults, request);
  AddImages(line, model, defaults, request);
  if (request.images.empty() && request.max_new_tokens == 0) {
    line.Fail("max_new_tokens", "is needed without an image, whose size would give it");
  }
  return read;
}

}  // namespace platen
