// An InspectReport as text for people.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/families/inspect.h"
#include "model/support/display_text.h"
#include "model/support/grouped.h"
#include "model/support/number_text.h"

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

// "  label                value".
void FormatFact(const std::string& label, const std::string& value, std::ostream& out) {
  constexpr size_t kWidth = 20;
  out << "  " << label << std::string(label.size() < kWidth ? kWidth - label.size() : 0, ' ') << " "
      << value << "\n";
}

std::string GroupText(int group) {
  return group == WeightFormat::kWholeDepth ? "whole depth" : std::to_string(group);
}

void FormatReading(const ReadingConfig& reading, std::ostream& out) {
  out << "reading" << (reading.present ? "" : " (no platen.json: defaults)") << "\n";
  FormatFact("granularity", GranularityName(reading.granularity), out);
  if (reading.line_height > 0) {
    out << "  line crops           " << reading.line_height << " pixels high, baseline at "
        << reading.baseline << ", small letters " << reading.x_height << ", up to "
        << reading.max_width << " wide\n";
  }
  for (const auto& [task, prompt] : reading.prompts) {
    FormatFact("prompt for " + task, nlohmann::json(prompt).dump(), out);
  }
  for (size_t i = 0; i < kNumRegionKinds; ++i) {
    const KindReading& kind = reading.kinds[i];
    if (!kind.stated) continue;
    FormatFact(std::string(RegionKindNames()[i]),
               kind.read ? "read by " + nlohmann::json(kind.prompt).dump() + ", as " +
                               SyntaxName(kind.syntax)
                         : "not read",
               out);
  }
  FormatFact("trained on scripts", reading.scripts.empty() ? "not stated" : Joined(reading.scripts),
             out);
  if (!reading.scripts.empty()) {
    FormatFact("doubtful pages", "mean confidence below " + NumberText(reading.doubtful_below),
               out);
  }
  FormatFact("trained on tasks", reading.tasks.empty() ? "all" : Joined(reading.tasks), out);
}

void FormatQuantization(const QuantizationPlan& plan, std::ostream& out) {
  FormatFact("int8 groups", GroupText(plan.group()), out);
  for (const auto& [pattern, group] : plan.patterns()) {
    out << "    " << pattern << ": " << GroupText(group) << "\n";
  }
}

void FormatTokenizer(const InspectReport& report, std::ostream& out) {
  if (!report.tokenizer) return;
  const TokenizerFacts& facts = *report.tokenizer;
  out << "tokenizer\n";
  FormatFact("tokens",
             std::to_string(facts.base_tokens) + " base, " + std::to_string(facts.added_tokens) +
                 " added, largest id " + std::to_string(facts.max_id),
             out);
  FormatFact("merges", std::to_string(facts.merges), out);
  if (!report.architecture) return;
  for (const auto& [label, value] : report.architecture->TokenFacts()) {
    FormatFact(label, value, out);
  }
  std::string stop;
  for (const TokenId id : report.architecture->tokens().stop) {
    stop += (stop.empty() ? "" : " ") + std::to_string(id);
  }
  FormatFact("stop ids", stop, out);
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
      << " parameters, " << ByteText(total.bytes) << "\n";
  if (!report.layout_model) {
    out << "draft head's copy of the embedding: " << CopyText(report.embedding_copy) << "\n"
        << "draft head's copy of the head:      " << CopyText(report.head_copy) << "\n";
  }
  out << "missing tensors: " << report.missing.size()
      << ", mismatched: " << report.mismatched.size()
      << ", unexpected: " << report.unexpected.size() << "\n";
  for (const std::string& name : report.unexpected) out << "  unexpected " << name << "\n";
}

std::string PrefixText(const std::vector<double>& chances) {
  std::string text;
  char number[16];
  for (const double chance : chances) {
    std::snprintf(number, sizeof number, "%s%.3f", text.empty() ? "" : " ", chance);
    text += number;
  }
  return text;
}

void FormatDraftHead(const DraftHeadFacts& facts, std::ostream& out) {
  if (facts.installed.empty() && facts.packed.empty()) return;
  out << "draft head\n";
  const bool used = !facts.installed.empty() && facts.why_not.empty();
  FormatFact("drafts are made by", used ? Printable(facts.installed) : "the model's own", out);
  if (!facts.why_not.empty()) FormatFact("not used", Printable(facts.why_not), out);
  if (!facts.says.acceptance.empty()) {
    FormatFact("right up to draft", PrefixText(facts.says.acceptance), out);
    FormatFact("the model's own", PrefixText(facts.says.own_acceptance), out);
  }
  for (const DraftHeadFacts::Packed& packed : facts.packed) {
    FormatFact("packed weights",
               Printable(packed.problem.empty()
                             ? packed.path + ": carries " +
                                   (packed.carries.empty() ? "the model's own" : packed.carries)
                             : packed.problem),
               out);
  }
}

}  // namespace

std::string FormatInspectReport(const InspectReport& report) {
  std::ostringstream out;
  out << Printable(report.dir) << ": " << report.what << "\n";
  if (!report.is_snapshot) return out.str();
  for (const Error& problem : report.problems) out << "problem: " << problem.what() << "\n";
  if (const DescribedModel* model = report.described()) {
    for (const FactSection& section : model->Facts()) {
      out << section.title << "\n";
      for (const auto& [label, value] : section.facts) FormatFact(label, value, out);
    }
  }
  if (report.reading) FormatReading(*report.reading, out);
  if (report.quantization) FormatQuantization(*report.quantization, out);
  FormatTokenizer(report, out);
  FormatTensors(report, out);
  FormatDraftHead(report.draft_head, out);
  for (const std::string& note : report.notes) out << "note: " << note << "\n";
  if (report.usable()) {
    out << "usable: no problems found\n";
  } else {
    out << "NOT usable: " << Counted(static_cast<int64_t>(report.problems.size()), "problem")
        << "\n";
  }
  return out.str();
}

}  // namespace platen
