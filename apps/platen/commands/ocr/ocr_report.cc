#include "apps/platen/commands/ocr/ocr_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/platen/cli/inputs.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/commands/ocr/run_json.h"
#include "model/support/display_text.h"
#include "model/support/grouped.h"
#include "stages/formats/document_writer.h"
#include "stages/inputs/input_names.h"

namespace platen {
namespace {

// "a.tif", or "a.tif page 3" of a document that has more than one.
std::string NameOfPage(const std::string& name, int page, int of_pages) {
  return page > 0 && of_pages != 1 ? name + " page " + std::to_string(page) : name;
}

// "out/a.tif.txt (and .md, .json)": the first file, and the extensions of the other formats.
std::string NamesOf(const std::vector<WrittenFile>& outputs) {
  std::vector<std::string> extensions;
  for (const WrittenFile& output : outputs) {
    const std::string extension = "." + NamingOf(FormatOfSuffix(output.suffix)).extension;
    if (extensions.empty() || extensions.back() != extension) extensions.push_back(extension);
  }
  std::string names = DisplayName(outputs.front().path);
  for (size_t i = 1; i < extensions.size(); ++i)
    names += (i == 1 ? " (and " : ", ") + extensions[i];
  return names + (extensions.size() > 1 ? ")" : "");
}

std::string DocumentsLine(const RunReport& report) {
  const Progress& t = report.totals;
  std::vector<std::string> parts = {Counted(t.documents_read, "document") + " read"};
  if (t.documents_skipped > 0) parts.push_back(Grouped(t.documents_skipped) + " finished before");
  if (t.documents_failed > 0) parts.push_back(Grouped(t.documents_failed) + " failed");
  if (t.documents_not_read() > 0) parts.push_back(Grouped(t.documents_not_read()) + " not read");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string PagesLine(const RunReport& report) {
  const Progress& t = report.totals;
  std::vector<std::string> parts = {Counted(t.pages_read, "page") + " read"};
  if (t.pages_from_text_layer > 0) {
    const bool all = t.pages_from_text_layer == t.pages_read;
    const std::string how_many = all ? "all" : Grouped(t.pages_from_text_layer);
    parts.push_back((t.pages_read == 1 ? "" : how_many + " ") + "from the PDF's own text");
  }
  if (t.pages_failed > 0) parts.push_back(Grouped(t.pages_failed) + " failed");
  if (t.pages_resumed > 0) {
    parts.push_back(Grouped(t.pages_resumed) + " taken from stored results");
  }
  std::string line = fmt::format("{}; {:.1f} s", fmt::join(parts, ", "), report.wall_s);
  if (t.pages_read > 0) {
    line += ", " + Grouped(static_cast<int64_t>(PagesPerCoreHour(report))) + " pages per core-hour";
  }
  return line;
}

}  // namespace

void OcrReport::OnFailure(const Failure& failure) {
  Log(LogLevel::kWarning,
      NameOfPage(failure.name, failure.page, failure.of_pages) + ": " + failure.error.text);
}

void OcrReport::OnPage(const InputDocument& input, const PageResult& page, int of_pages) {
  const std::string name = DisplayName(input.shown_name());
  for (const Doubt& doubt : page.doubts) {
    if (doubtful_.size() < kDoubtsListed)
      doubtful_.push_back({name, input.output, page.page, of_pages, doubt});
  }
  size_t lines = 0;
  Confidence all;
  for (const RegionResult& region : page.regions) {
    lines += region.lines.size();
    all.mean += region.confidence.mean * region.confidence.tokens;
    all.tokens += region.confidence.tokens;
  }
  Log(LogLevel::kDebug,
      fmt::format("{} page {}: {}x{}, {} regions, {} lines, {} tokens, mean confidence {:.3f}",
                  name, page.page, page.width, page.height, page.regions.size(), lines, all.tokens,
                  all.tokens > 0 ? all.mean / all.tokens : 0.0));
}

void OcrReport::OnDocument(const FinishedDocument& document) {
  const std::string name = DisplayName(document.input.shown_name());
  // Of a document that could not be opened its failure has said so.
  if (document.kept_earlier && !document.pages.empty()) {
    Log(LogLevel::kWarning,
        name + ": the outputs of an earlier run, which are complete, were kept");
  }
  if (documents_++ == 0) first_outputs_ = document.outputs;
  std::string line = name + ": " + Counted(document.pages.size(), "page");
  for (const WrittenFile& output : document.outputs) {
    line += ", " + DisplayName(output.path) + " (" + Counted(output.bytes, "byte") + ")";
    if (!output.note.empty()) Log(LogLevel::kWarning, DisplayName(output.path) + " " + output.note);
  }
  Log(LogLevel::kDebug, line);
}

std::string OcrReport::Summary(const RunReport& report) const {
  const Progress& t = report.totals;
  if (t.documents_total == 0) return "nothing to do: no document belongs to this shard\n";
  if (t.documents_skipped == t.documents_total) {
    return "nothing to do: " +
           (t.documents_total == 1 ? std::string("the document was")
                                   : "all " + Grouped(t.documents_total) + " documents were") +
           " finished before (--force reads again)\n";
  }
  std::string text = DocumentsLine(report) + "\n" + PagesLine(report) + "\n";
  if (report.interrupted) text = "stopped early; the same command does the rest\n" + text;
  if (report.reached_max_pages) {
    text = "stopped at --max-pages; the same command does the rest\n" + text;
  }
  return text;
}

std::string OcrReport::WhereResultsAre(const RunReport& report, const std::string& output_dir,
                                       const std::string& reports_dir) const {
  const std::string dir = DisplayName(output_dir);
  std::string where = "results in " + dir + (dir.ends_with('/') ? "" : "/");
  const bool has_text = report.totals.pages_read + report.totals.pages_resumed > 0;
  if (documents_ == 1 && has_text && !first_outputs_.empty()) {
    where = "text in " + NamesOf(first_outputs_);
  }
  where += ", report in " + DisplayName(JoinNames(reports_dir, "run.json"));
  if (report.totals.failures > 0) {
    where += ", failures in " + DisplayName(JoinNames(reports_dir, FailureLog::kFileName));
  }
  return where + "\n";
}

void OcrReport::WarnOfDoubts(int64_t pages, const OcrTarget& target,
                             const std::string& reports_dir) const {
  if (doubtful_.empty()) return;
  Log(LogLevel::kWarning, Counted(pages, "doubtful page") + ", worth a look:");
  for (size_t i = 0; i < std::min(doubtful_.size(), kDoubtsShown); ++i) {
    const DoubtfulPage& page = doubtful_[i];
    Log(LogLevel::kWarning,
        "  " + NameOfPage(page.name, page.page, page.of_pages) + ": " + page.doubt.text);
  }
  if (doubtful_.size() <= kDoubtsShown) return;
  const std::string listed =
      doubtful_.size() < kDoubtsListed ? "all" : "the first " + Grouped(kDoubtsListed) + " doubts";
  Log(LogLevel::kWarning,
      "  and more" + (target.is_stdout()
                          ? std::string()
                          : "; " + listed + " are in " + JoinNames(reports_dir, "run.json")));
}

void LogSkipped(const Discovery& discovery) {
  const std::string skipped = WhatWasSkipped(discovery);
  if (!skipped.empty()) Log(LogLevel::kInfo, "not read: " + skipped + "; names are in run.json");
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(discovery.repeated.size(), kShown); ++i) {
    Log(LogLevel::kInfo, discovery.repeated[i] + ", read once");
  }
  if (discovery.repeated.size() > kShown) {
    Log(LogLevel::kInfo, "and " + Counted(discovery.repeated.size() - kShown, "other repetition") +
                             "; names are in run.json");
  }
}

}  // namespace platen
