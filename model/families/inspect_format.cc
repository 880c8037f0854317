// An InspectReport as text for people.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/families/inspect.h"
#include "model/support/grouped.h"

namespace platen {
namespace {

std::string ByteText(int64_t bytes) {
  constexpr double kMiB = 1024.0 * 1024.0;
  char buffer[32];
  if (static_cast<double>(bytes) >= 1024 * kMiB) {
    std::snprintf(buffer, sizeof buffer, "%.2f GiB", static_cast<double>(bytes) / (1024 * kMiB));
  } else if (static_cast<double>(bytes) >= kMiB) {
    std::snprintf(buffer, sizeof buffer, "%.1f MiB", static_cast<double>(bytes) / kMiB);
  } else {
    std::snprintf(buffer, sizeof buffer, "%.1f KiB", static_cast<double>(bytes) / 1024.0);
  }
  return buffer;
}

// Shortest text that reads back as the same number.
std::string NumberText(double value) { return nlohmann::json(value).dump(); }
std::string NumberText(float value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", static_cast<double>(value));
  return buffer;
}

const char* CopyText(StoredCopy copy) {
  switch (copy) {
    case StoredCopy::kAbsent:
      return "not stored";
    case StoredCopy::kEqual:
      return "equal to the shared table";
    case StoredCopy::kDifferent:
      return "DIFFERENT from the shared table";
  }
  return "";
}

std::string Joined(const std::vector<std::string>& words, const std::string& if_empty) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out.empty() ? if_empty : out;
}

void FormatConfig(const ModelConfig& config, std::ostream& out) {
  const TextConfig& text = config.text;
  const VisionConfig& vision = config.vision;
  out << "text model\n"
      << "  layers               " << text.num_layers << " + " << text.num_mtp_layers << " draft\n"
      << "  hidden size          " << text.hidden_size << "\n"
      << "  feed-forward size    " << text.intermediate_size << "\n"
      << "  heads                " << text.num_heads << " query, " << text.num_kv_heads
      << " key/value, " << text.head_dim << " wide\n"
      << "  vocabulary           " << text.vocab_size << "\n"
      << "  positions            " << text.max_positions << "\n"
      << "  rope                 theta " << NumberText(text.rope_theta) << ", sections "
      << text.mrope_section[0] << " " << text.mrope_section[1] << " " << text.mrope_section[2]
      << "\n"
      << "  norm epsilon         " << NumberText(text.rms_norm_eps) << "\n"
      << "  head                 "
      << (text.tie_word_embeddings ? "tied to the embedding" : "its own table") << "\n"
      << "  cache per token      " << Grouped(2 * text.cache_values_per_token())
      << " bytes in bf16, " << Grouped(4 * text.cache_values_per_token()) << " in f32\n"
      << "vision model\n"
      << "  blocks               " << vision.depth << "\n"
      << "  hidden size          " << vision.hidden_size << ", " << vision.num_heads << " heads, "
      << vision.head_dim() << " wide\n"
      << "  feed-forward size    " << vision.intermediate_size << "\n"
      << "  patch                " << vision.patch_size << " x " << vision.patch_size << " pixels, "
      << vision.temporal_patch_size << " frames\n"
      << "  rope                 theta " << NumberText(vision.rope_theta) << "\n"
      << "  norm epsilon         " << NumberText(vision.rms_norm_eps) << "\n";
}

std::string GroupText(int group) {
  return group == WeightFormat::kWholeDepth ? "whole depth" : std::to_string(group);
}

void FormatReading(const ModelConfig& config, std::ostream& out) {
  const ImageProcessorConfig& images = config.image_processor;
  const ReadingConfig& reading = config.reading;
  // Sizes count every frame of a patch; a page is one image repeated.
  const int64_t frames = images.temporal_patch_size;
  const int64_t token_pixels = int64_t{images.factor()} * images.factor();
  out << "images\n"
      << "  pixels               " << Grouped(images.min_pixels / frames) << " to "
      << Grouped(images.max_pixels / frames) << " after resizing\n"
      << "  image tokens         up to " << Grouped(images.max_pixels / frames / token_pixels)
      << ", one per " << images.factor() << " x " << images.factor() << " pixels\n"
      << "reading" << (reading.present ? "" : " (no platen.json: defaults)") << "\n"
      << "  granularity          " << GranularityName(reading.granularity) << "\n";
  if (reading.line_height > 0) {
    out << "  line crops           " << reading.line_height << " pixels high, baseline at "
        << reading.baseline << ", small letters " << reading.x_height << ", up to "
        << reading.max_width << " wide\n";
  }
  for (const auto& [task, prompt] : reading.prompts) {
    out << "  prompt for " << task << std::string(task.size() < 10 ? 10 - task.size() : 1, ' ')
        << nlohmann::json(prompt).dump() << "\n";
  }
  out << "  trained on scripts   " << Joined(reading.scripts, "not stated") << "\n"
      << "  trained on tasks     " << Joined(reading.tasks, "all") << "\n"
      << "  int8 groups          " << GroupText(config.quantization.group()) << "\n";
  for (const auto& [pattern, group] : config.quantization.patterns()) {
    out << "    " << pattern << ": " << GroupText(group) << "\n";
  }
}

void FormatTokenizer(const InspectReport& report, std::ostream& out) {
  if (!report.tokenizer) return;
  out << "tokenizer\n"
      << "  tokens               " << report.tokenizer->base_tokens << " base, "
      << report.tokenizer->added_tokens << " added, largest id " << report.tokenizer->max_id << "\n"
      << "  merges               " << report.tokenizer->merges << "\n";
  if (!report.config) return;
  const SpecialTokens& tokens = report.config->tokens;
  out << "  image ids            " << tokens.image_start << " " << tokens.image << " "
      << tokens.image_end << " (begin, image, end)\n"
      << "  stop ids            ";
  for (const TokenId id : tokens.stop) out << " " << id;
  out << "\n";
}

void FormatTensors(const InspectReport& report, std::ostream& out) {
  for (const CheckpointFile& file : report.files) {
    out << "file " << file.path << ": " << Counted(file.tensors, "tensor") << ", "
        << ByteText(file.bytes) << "\n";
  }
  TensorGroup total;
  for (const TensorGroup& group : report.groups) {
    out << group.name << ": " << Counted(group.count, "tensor") << ", " << Grouped(group.parameters)
        << " parameters, " << ByteText(group.bytes) << "\n";
    for (const TensorFamily& family : group.families) {
      out << "  " << family.count << " x " << family.name << "  " << ShapeText(family.shape) << " "
          << DTypeName(family.dtype) << "\n";
    }
    total.count += group.count;
    total.parameters += group.parameters;
    total.bytes += group.bytes;
  }
  if (report.groups.empty()) return;
  out << "all: " << Counted(total.count, "tensor") << ", " << Grouped(total.parameters)
      << " parameters, " << ByteText(total.bytes) << "\n"
      << "draft head's copy of the embedding: " << CopyText(report.embedding_copy) << "\n"
      << "draft head's copy of the head:      " << CopyText(report.head_copy) << "\n"
      << "missing tensors: " << report.missing.size()
      << ", mismatched: " << report.mismatched.size()
      << ", unexpected: " << report.unexpected.size() << "\n";
  for (const std::string& name : report.unexpected) out << "  unexpected " << name << "\n";
}

}  // namespace

std::string FormatInspectReport(const InspectReport& report) {
  std::ostringstream out;
  out << "snapshot " << report.dir << "\n";
  if (report.config) {
    FormatConfig(*report.config, out);
    FormatReading(*report.config, out);
  }
  FormatTokenizer(report, out);
  FormatTensors(report, out);
  for (const std::string& note : report.notes) out << "note: " << note << "\n";
  for (const Error& problem : report.problems) out << "problem: " << problem.what() << "\n";
  if (report.usable()) {
    out << "usable: no problems found\n";
  } else {
    out << "NOT usable: " << Counted(static_cast<int64_t>(report.problems.size()), "problem")
        << "\n";
  }
  return out.str();
}

}  // namespace platen
