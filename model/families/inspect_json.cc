// An InspectReport as one JSON object.
#include <nlohmann/json.hpp>

#include "model/families/inspect.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

void AddReading(const InspectReport& report, Json& config) {
  if (report.reading) {
    const ReadingConfig& reading = *report.reading;
    config["reading"] = {{"from_file", reading.present},
                         {"granularity", GranularityName(reading.granularity)},
                         {"line_height", reading.line_height},
                         {"x_height", reading.x_height},
                         {"baseline", reading.baseline},
                         {"max_width", reading.max_width},
                         {"prompts", reading.prompts},
                         {"scripts", reading.scripts},
                         {"doubtful_below", reading.doubtful_below},
                         {"tasks", reading.tasks}};
  }
  if (report.quantization) {
    config["int8"] = {{"group", report.quantization->group()},
                      {"groups", report.quantization->patterns()}};
  }
}

Json GroupJson(const TensorGroup& group) {
  Json families = Json::array();
  for (const TensorFamily& family : group.families) {
    families.push_back({{"names", family.name},
                        {"count", family.count},
                        {"dtype", DTypeName(family.dtype)},
                        {"shape", family.shape}});
  }
  return {{"group", group.name},
          {"count", group.count},
          {"parameters", group.parameters},
          {"bytes", group.bytes},
          {"tensors", std::move(families)}};
}

Json ErrorsJson(const std::vector<Error>& errors) {
  Json out = Json::array();
  for (const Error& error : errors) {
    Json entry = {{"file", error.location().file},
                  {"field", error.location().field},
                  {"reason", error.reason()}};
    if (error.location().offset) entry["offset"] = *error.location().offset;
    if (error.location().place) {
      entry["line"] = error.location().place->line;
      entry["column"] = error.location().place->column;
    }
    out.push_back(std::move(entry));
  }
  return out;
}

const char* CopyJson(StoredCopy copy) {
  switch (copy) {
    case StoredCopy::kAbsent:
      return "absent";
    case StoredCopy::kEqual:
      return "equal";
    case StoredCopy::kDifferent:
      return "different";
  }
  return "";
}

Json DraftHeadJson(const DraftHeadFacts& facts) {
  Json packed = Json::array();
  for (const DraftHeadFacts::Packed& file : facts.packed) {
    packed.push_back({{"path", file.path}, {"carries", file.carries}, {"problem", file.problem}});
  }
  return {{"installed", facts.installed},
          {"not_used", facts.why_not},
          {"acceptance", facts.says.acceptance},
          {"own_acceptance", facts.says.own_acceptance},
          {"packed", packed}};
}

}  // namespace

std::string InspectReportJson(const InspectReport& report) {
  Json out = {{"snapshot", report.dir}, {"what", report.what}, {"usable", report.usable()}};
  out["problems"] = ErrorsJson(report.problems);
  out["notes"] = report.notes;
  if (const DescribedModel* model = report.described()) {
    out["config"] = model->ConfigJson();
    AddReading(report, out["config"]);
  }
  if (report.tokenizer) {
    out["tokenizer"] = {{"base_tokens", report.tokenizer->base_tokens},
                        {"added_tokens", report.tokenizer->added_tokens},
                        {"merges", report.tokenizer->merges},
                        {"max_id", report.tokenizer->max_id}};
  }
  out["files"] = Json::array();
  for (const CheckpointFile& file : report.files) {
    out["files"].push_back({{"path", file.path}, {"tensors", file.tensors}, {"bytes", file.bytes}});
  }
  out["groups"] = Json::array();
  for (const TensorGroup& group : report.groups) out["groups"].push_back(GroupJson(group));
  out["missing"] = ErrorsJson(report.missing);
  out["mismatched"] = ErrorsJson(report.mismatched);
  out["unexpected"] = report.unexpected;
  out["embedding_copy"] = CopyJson(report.embedding_copy);
  out["head_copy"] = CopyJson(report.head_copy);
  out["draft_head"] = DraftHeadJson(report.draft_head);
  return out.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace platen
