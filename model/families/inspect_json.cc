// An InspectReport as one JSON object.
#include <nlohmann/json.hpp>

#include "model/families/inspect.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

Json ConfigJson(const ModelConfig& config) {
  const TextConfig& text = config.text;
  const VisionConfig& vision = config.vision;
  const ImageProcessorConfig& images = config.image_processor;
  const ReadingConfig& reading = config.reading;
  return {{"text",
           {{"layers", text.num_layers},
            {"mtp_layers", text.num_mtp_layers},
            {"hidden_size", text.hidden_size},
            {"intermediate_size", text.intermediate_size},
            {"heads", text.num_heads},
            {"kv_heads", text.num_kv_heads},
            {"head_dim", text.head_dim},
            {"vocab_size", text.vocab_size},
            {"max_positions", text.max_positions},
            {"rope_theta", text.rope_theta},
            {"mrope_section", text.mrope_section},
            {"rms_norm_eps", text.rms_norm_eps},
            {"tied_head", text.tie_word_embeddings},
            {"cache_values_per_token", text.cache_values_per_token()}}},
          {"vision",
           {{"depth", vision.depth},
            {"hidden_size", vision.hidden_size},
            {"heads", vision.num_heads},
            {"intermediate_size", vision.intermediate_size},
            {"patch_size", vision.patch_size},
            {"temporal_patch_size", vision.temporal_patch_size},
            {"rope_theta", vision.rope_theta},
            {"rms_norm_eps", vision.rms_norm_eps}}},
          {"tokens",
           {{"image", config.tokens.image},
            {"image_start", config.tokens.image_start},
            {"image_end", config.tokens.image_end},
            {"stop", config.tokens.stop},
            {"pad", config.tokens.pad}}},
          {"image_processor",
           {{"min_pixels", images.min_pixels},
            {"max_pixels", images.max_pixels},
            {"mean", images.mean},
            {"std", images.std},
            {"rescale_factor", images.rescale_factor}}},
          {"reading",
           {{"from_file", reading.present},
            {"granularity", GranularityName(reading.granularity)},
            {"line_height", reading.line_height},
            {"x_height", reading.x_height},
            {"baseline", reading.baseline},
            {"max_width", reading.max_width},
            {"prompts", reading.prompts},
            {"scripts", reading.scripts},
            {"tasks", reading.tasks}}},
          {"int8",
           {{"group", config.quantization.group()}, {"groups", config.quantization.patterns()}}}};
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

}  // namespace

std::string InspectReportJson(const InspectReport& report) {
  Json out = {{"snapshot", report.dir}, {"usable", report.usable()}};
  out["problems"] = ErrorsJson(report.problems);
  out["notes"] = report.notes;
  if (report.config) out["config"] = ConfigJson(*report.config);
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
  return out.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace platen
