#include "apps/platen/commands/compare/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/support/display_text.h"
#include "model/support/grouped.h"
#include "model/support/utf8.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNameWidth = 40;

// Shares of characters that the verdict calls practically the same, and small.
constexpr double kPracticallySame = 0.001;
constexpr double kSmall = 0.01;

std::string Percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string Mebibytes(int64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

// The end of a long name says more than its beginning.
std::string Shortened(const PageComparison& page) {
  const std::string name = fmt::format("{} p{}", DisplayName(page.name), page.page);
  if (name.size() <= kNameWidth) return name;
  return "..." + name.substr(name.size() - kNameWidth + 3);
}

std::string SideText(const char* letter, const SideReport& side) {
  const std::string attention =
      side.attention == side.precision ? "" : ", attention " + side.attention;
  return fmt::format(
      "  {}  {:5} {}{}\n     loaded in {:.1f} s, weights {}; read in {:.2f} s, "
      "{:.2f} core-seconds\n",
      letter, side.precision, side.model, attention, side.load_s, Mebibytes(side.weight_bytes),
      side.wall_s, side.core_s);
}

std::string PageTable(const CompareReport& report, size_t worst) {
  const std::vector<size_t> shown = WorstPages(report.pages, worst);
  if (shown.empty()) return "";
  std::string out = fmt::format("\n{:{}} {:>10} {:>8} {:>9} {:>13} {:>11}\n", "page", kNameWidth,
                                "characters", "differ", "CER", "tokens equal", "max. logit");
  for (const size_t i : shown) {
    const PageComparison& page = report.pages[i];
    const bool same = page.same_regions;
    out += fmt::format("{:{}} {:>10} {:>8} {:>9} {:>13} {:>11}\n", Shortened(page), kNameWidth,
                       page.text.characters, page.text.edits, Percent(page.text.cer()),
                       same ? Percent(page.tokens.agreement()) : "-",
                       page.logits.places > 0 ? fmt::format("{:.3f}", page.logits.largest) : "-");
  }
  return out;
}

std::string LogitText(const ComparisonSummary& all) {
  const LogitDifference& logits = all.logits;
  if (logits.places == 0) return "  logits    not compared: the sides have no tokens in common\n";
  return fmt::format(
      "  logits    on A's tokens, {} places: the same choice at {}; largest difference {:.4f}\n"
      "            ({}, region {}, place {}: A chooses {}, B {})\n",
      logits.places, Percent(logits.agreement()), logits.largest,
      DisplayName(all.largest_logit_page), logits.largest_region, logits.largest_place,
      QuotedText(logits.chosen_a), QuotedText(logits.chosen_b));
}

Json ToJson(const SideReport& side) {
  return {{"model", ToValidUtf8(side.model)},
          {"precision", side.precision},
          {"attention", side.attention},
          {"weight_bytes", side.weight_bytes},
          {"load_s", side.load_s},
          {"wall_s", side.wall_s},
          {"core_s", side.core_s}};
}

Json ToJson(const LogitDifference& logits) {
  return {{"places", logits.places},
          {"same_choice", logits.same_choice},
          {"largest_difference", logits.largest},
          {"largest_region", logits.largest_region},
          {"largest_place", logits.largest_place},
          {"chosen_a", logits.chosen_a},
          {"chosen_b", logits.chosen_b}};
}

Json ToJson(const TextDifference& text) {
  return {{"characters", text.characters}, {"edits", text.edits}, {"cer", text.cer()}};
}

Json ToJson(const TokenDifference& tokens) {
  return {{"tokens", tokens.tokens},
          {"edits", tokens.edits},
          {"agreement", tokens.agreement()},
          {"regions", tokens.regions},
          {"identical_regions", tokens.identical_regions}};
}

Json ToJson(const PageComparison& page) {
  Json json = {{"input", DisplayName(page.name)}, {"page", page.page}};
  if (!page.error.empty()) {
    json["error"] = ToValidUtf8(page.error);
    return json;
  }
  json["text"] = ToJson(page.text);
  json["same_regions"] = page.same_regions;
  json["tokens"] = ToJson(page.tokens);
  json["logits"] = ToJson(page.logits);
  json["failed_regions"] = {page.failed_regions_a, page.failed_regions_b};
  return json;
}

Json ToJson(const ComparisonSummary& all) {
  return {
      {"pages", all.pages},
      {"pages_failed", all.failed_pages},
      {"regions_failed", all.failed_regions},
      {"text", ToJson(all.text)},
      {"page_cer", {{"mean", all.mean_cer}, {"median", all.median_cer}, {"worst", all.worst_cer}}},
      {"tokens", ToJson(all.tokens)},
      {"logits", ToJson(all.logits)},
      {"largest_logit_page", DisplayName(all.largest_logit_page)}};
}

}  // namespace

std::string Verdict(const CompareReport& report) {
  const ComparisonSummary& all = report.summary;
  if (all.pages == 0) return "No page could be compared.";
  const std::string differ =
      fmt::format("{} of {} characters differ", all.text.edits, all.text.characters);
  if (all.text.edits == 0) return "Both sides read exactly the same text.";
  if (all.text.cer() <= kPracticallySame) {
    return "Both sides read practically the same: " + differ + ".";
  }
  if (all.text.cer() <= kSmall) {
    return "Small differences: " + differ + "; look at the pages above before you choose.";
  }
  return "The sides read clearly different texts: " + differ + "; do not exchange them unchecked.";
}

std::string CompareReportText(const CompareReport& report, size_t worst) {
  const ComparisonSummary& all = report.summary;
  std::string out =
      fmt::format("compared (kernels {}, {})\n", report.kernels, Counted(report.threads, "thread"));
  out += SideText("A", report.a) + SideText("B", report.b) + PageTable(report, worst);
  out += fmt::format("\n{}, {} failed\n", Counted(all.pages, "page"), all.failed_pages);
  out += fmt::format(
      "  text      {} characters, {} differ: CER {} (pages: mean {}, median {}, "
      "worst {})\n",
      all.text.characters, all.text.edits, Percent(all.text.cer()), Percent(all.mean_cer),
      Percent(all.median_cer), Percent(all.worst_cer));
  out += fmt::format("  tokens    {} equal; {} of {} regions identical\n",
                     Percent(all.tokens.agreement()), all.tokens.identical_regions,
                     all.tokens.regions);
  out += LogitText(all);
  if (all.failed_regions > 0) {
    out += fmt::format("  failed    {} regions of either side\n", all.failed_regions);
  }
  return out + fmt::format("  memory    {} at most, both sides together\n\n{}\n",
                           Mebibytes(report.peak_memory_bytes), Verdict(report));
}

std::string CompareReportJson(const CompareReport& report) {
  Json json = {{"a", ToJson(report.a)},
               {"b", ToJson(report.b)},
               {"kernels", report.kernels},
               {"threads", report.threads},
               {"peak_memory_bytes", report.peak_memory_bytes},
               {"summary", ToJson(report.summary)},
               {"verdict", Verdict(report)},
               {"pages", Json::array()}};
  for (const PageComparison& page : report.pages) json["pages"].push_back(ToJson(page));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace platen
