// platen report: a folder of results as a page to look at in the morning.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/results_folder.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "apps/platen/commands/ocr/reading_settings.h"
#include "apps/platen/commands/report/report_page.h"
#include "apps/platen/commands/report/run_order.h"
#include "model/support/atomic_file.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/support/json_fields.h"
#include "pipeline/failure_log.h"
#include "pipeline/record_lines.h"
#include "stages/inputs/input_names.h"

namespace platen {
namespace {

constexpr size_t kRunsRead = 60;  // of each part of the job
constexpr size_t kRunsShown = 30;
constexpr size_t kFailuresShown = 500;
constexpr int kPictureSide = 700;  // pixels

const OptionTable& ReportOptions() {
  static const OptionTable table = {
      {.name = "output",
       .value_name = "FILE",
       .group = "Options",
       .help = "Where to write the page; without it OUT/report.html.",
       .short_name = 'o'},
      {.name = "pictures",
       .type = OptionType::kInteger,
       .default_value = "24",
       .value_name = "N",
       .group = "Options",
       .help = "Show so many of the doubtful pages, each some 60 kB. The scans must be where they "
               "were read.",
       .min = 0,
       .max = 1000},
      {.name = "price",
       .type = OptionType::kNumber,
       .default_value = "0",
       .value_name = "X",
       .group = "Options",
       .help = "What a core-hour costs: the page then says what 1,000 pages do.",
       .min = 0,
       .max = 1e9},
      {.name = "currency",
       .default_value = "EUR",
       .value_name = "NAME",
       .group = "Options",
       .help = "Of the price."},
      OptionFrom(OcrOptions(), "password-file", "Options"),
      HelpOption("Options"),
  };
  return table;
}

Folder StateOf(const Folder& common, const Shard& shard) {
  return common.Below(shard.is_all() ? "" : ShardPath(shard), Folder::Missing::kFail);
}

// Of each part of the latest job that read pages, the latest run that did. A run over everything
// after the shards reads what is left, often nothing, and figures of nothing tell nothing.
std::vector<RunView> LatestThatRead(const std::vector<std::vector<RunView>>& runs_of_parts) {
  std::vector<std::vector<RunView>> that_read;
  for (const std::vector<RunView>& runs : runs_of_parts) {
    const auto found = std::find_if(runs.begin(), runs.end(),
                                    [](const RunView& run) { return run.pages_read > 0; });
    if (found != runs.end()) that_read.push_back({*found});
  }
  std::vector<RunView> latest = LatestFirst(std::move(that_read));
  std::erase_if(latest, [count = latest.empty() ? 0 : latest.front().shard.count](
                            const RunView& run) { return run.shard.count != count; });
  return latest;
}

// The latest run of each part of the job, and all that are compared.
void ReadRuns(const Folder& common, ReportFacts& facts) {
  std::vector<Shard> parts = {Shard()};
  for (const Shard& shard : ShardsIn(common)) parts.push_back(shard);
  const int count = facts.status.job.front().shard.count;
  std::vector<std::vector<RunView>> runs_of_parts, job;
  for (const Shard& part : parts) {
    std::vector<RunView>& runs = runs_of_parts.emplace_back();
    for (const PastRun& past : PastRuns(StateOf(common, part), kRunsRead)) {
      if (auto run = ViewOf(past, part)) runs.push_back(std::move(*run));
    }
    if (!runs.empty() && part.count == count) job.push_back({runs.front()});
  }
  facts.job = LatestFirst(std::move(job));
  facts.read = LatestThatRead(runs_of_parts);
  facts.runs = LatestFirst(std::move(runs_of_parts));
}

void ReadFailures(const Folder& root, const Folder& common, ReportFacts& facts) {
  for (const RunsState& runs : facts.status.job) {
    if (runs.state == RunState::kNoRun) continue;
    const Folder reports =
        runs.shard.is_all() ? root.Below("", Folder::Missing::kFail) : StateOf(common, runs.shard);
    ForEachLineOf(reports, FailureLog::kFileName, [&](const std::string& line) {
      if (facts.failures.size() == kFailuresShown) return;
      const auto json = ParseShallow<nlohmann::json>(line);
      if (!json.is_object()) return;
      const auto text = [&](const char* key) {
        return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
      };
      const bool has_page = json.contains("page") && json["page"].is_number_integer();
      facts.failures.push_back(
          {text("input"), has_page ? json["page"].get<int64_t>() : 0, text("code"), text("error")});
    });
  }
}

// Of `runs`, the latest first. Those that are shown are as they are now: a page that a later run
// has read again may be doubtful no more.
void ReadDoubts(const Folder& root, const Folder& common, const std::vector<RunView>& runs,
                const Settings& settings, ReportFacts& facts) {
  const auto pictures = static_cast<size_t>(settings.Integer("pictures"));
  const auto open = [passwords = PasswordsFrom(settings.Text("password-file"))](
                        const std::string& path, const std::vector<DocumentSetting>& as) {
    return OpenAsRead(path, as, passwords);
  };
  std::set<std::tuple<std::string, int>> seen;
  std::vector<DoubtView> doubts;
  for (const RunView& run : runs) {
    for (const DoubtView& doubt : run.doubts) {
      if (seen.emplace(doubt.output, doubt.page).second) doubts.push_back(doubt);
    }
  }
  facts.doubtful_pages = std::ssize(doubts);
  if (doubts.empty()) return;
  KnownDocuments known(root.Below("", Folder::Missing::kFail), {});
  LoadLedgers(common, known);
  const ResultStore results(common.Below("results", Folder::Missing::kFail));
  for (DoubtView& doubt : doubts) {
    if (facts.doubtful.size() == pictures) break;
    auto page = ShowPage(known, results, doubt.output, doubt.page, kPictureSide, open);
    if (page && page->page.doubts.empty()) {
      --facts.doubtful_pages;  // read again since
    } else {
      facts.doubtful.push_back({std::move(doubt), std::move(page)});
    }
  }
}

}  // namespace

const CommandSpec& ReportCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen report OUT [options]"},
      .description =
          "Writes OUT/report.html, a page about what platen ocr has done in the folder OUT: pages "
          "over time, time in each stage, how well drafts were guessed, what failed and why, "
          "doubtful pages with pictures, what it cost, and how that compares with earlier runs. "
          "The page is one file without scripts that loads nothing; it can be sent to others.\n\n"
          "  platen report text\n"
          "  platen report text -o night.html --price 0.02\n\n"
          "It changes nothing else and may be written while a run goes on. Runs of versions that "
          "kept no history are left out.\n",
      .options = ReportOptions(),
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

int RunReportCommand(const Words& words) {
  const auto settings = ParseCommand(ReportCommand(), words);
  if (!settings) return kExitDone;
  const std::string dir = ResultsFolder(*settings, "report");
  ReportFacts facts;
  facts.folder = DisplayName(dir);
  facts.price = settings->Number("price");
  facts.currency = settings->Text("currency");
  facts.status = ReadStatus(dir);
  const std::string& output = settings->Text("output");
  const std::string written = output.empty() ? JoinNames(dir, "report.html") : output;
  WithErrorKind(ErrorKind::kEnvironment, [&] {
    const Folder root = Folder::Open(dir, Folder::Missing::kFail);
    const Folder common = root.Below(".platen", Folder::Missing::kFail);
    ReadRuns(common, facts);
    ReadFailures(root, common, facts);
    ReadDoubts(root, common, facts.runs, *settings, facts);
    if (facts.runs.size() > kRunsShown) facts.runs.resize(kRunsShown);
    ReplaceFile(written, ReportPage(facts), Folder::Missing::kFail);
  });
  if (facts.runs.empty()) {
    Log(LogLevel::kWarning, facts.status.last_end
                                ? "no run into this folder has kept its history; the next one does"
                                : "no run into this folder has come to its end yet; figures and "
                                  "charts come with the first that does");
  }
  fmt::print("report in {}\n", DisplayName(written));
  return kExitDone;
}

}  // namespace platen
