// platen status: what a folder of results holds, and whether the runs that write to it are done.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/results_folder.h"
#include "apps/platen/cli/utc_time.h"
#include "apps/platen/commands/commands.h"
#include "model/support/display_text.h"
#include "model/support/grouped.h"
#include "model/support/utf8.h"
#include "pipeline/status.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

const OptionTable& StatusOptions() {
  static const OptionTable table = {
      {.name = "json",
       .type = OptionType::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "Print the same as JSON."},
      HelpOption("Options"),
  };
  return table;
}

int ExitCodeOf(const FolderStatus& status) {
  if (!status.finished()) return kExitInterrupted;
  return status.failures > 0 || status.documents_failed > 0 ? kExitSomeFailed : kExitDone;
}

// The shards of the job in this state.
std::vector<int> ShardsOf(const FolderStatus& status, RunState state) {
  std::vector<int> shards;
  for (const RunsState& runs : status.job) {
    if (runs.state == state) shards.push_back(runs.shard.index);
  }
  return shards;
}

std::string ShardsLine(const FolderStatus& status) {
  const auto finished = ShardsOf(status, RunState::kFinished);
  std::string line = fmt::format("shards: {} of {} finished", Grouped(finished.size()),
                                 Grouped(status.job.size()));
  const auto add = [&](RunState state, const char* what) {
    const std::vector<int> shards = ShardsOf(status, state);
    if (shards.empty()) return;
    line += fmt::format(", {} {} ({})", Grouped(shards.size()), what, FormatPageRanges(shards));
  };
  add(RunState::kRunning, "running");
  add(RunState::kStopped, "stopped before the end");
  add(RunState::kNoRun, "not begun here");
  return line + "\n";
}

std::string WholeRunLine(const RunsState& runs) {
  switch (runs.state) {
    case RunState::kNoRun:
      return "no run has begun\n";
    case RunState::kRunning:
      return "a run is going on\n";
    case RunState::kStopped:
      return "the last run stopped before its end; the same command does the rest\n";
    case RunState::kFinished:
      return "";
  }
  return "";
}

std::string ReasonLines(const FolderStatus& status) {
  std::string lines;
  for (const FailureReason& reason : status.reasons) {
    lines += fmt::format("  {:>6}  {:<15}  e.g. {}\n", Grouped(reason.count), reason.code,
                         DisplayName(reason.example));
  }
  return lines;
}

// Short runs in seconds: 0.001 core-hours says little.
std::string CoreTime(double core_s) {
  return core_s < 360 ? fmt::format("{:.1f} core-seconds", core_s)
                      : fmt::format("{:.3f} core-hours", core_s / 3600);
}

std::string Text(const FolderStatus& status) {
  std::string text =
      fmt::format("{} with outputs, {} with failed pages\n", Counted(status.documents, "document"),
                  Grouped(status.documents_failed));
  text +=
      fmt::format("{}, {} failed\n", Counted(status.pages, "page"), Grouped(status.pages_failed));
  text += Counted(status.failures, "failure") + (status.finished() ? "" : " so far") + "\n" +
          ReasonLines(status);
  text += status.job.front().shard.is_all() ? WholeRunLine(status.job.front()) : ShardsLine(status);
  text += fmt::format("{} in {}", CoreTime(status.core_s),
                      Counted(status.runs - status.runs_unended, "run"));
  if (status.runs_unended > 0) {
    text += fmt::format("; {} going on or killed, of unknown cost",
                        Counted(status.runs_unended, "run"));
  }
  text += "\n";
  if (status.last_end) {
    text += fmt::format("last end of a run: {}, {}\n", UtcTime(status.last_end->ended_s),
                        DisplayName(status.last_end->result));
  }
  return text;
}

const char* StateName(RunState state) {
  switch (state) {
    case RunState::kNoRun:
      return "not begun here";
    case RunState::kRunning:
      return "running";
    case RunState::kStopped:
      return "stopped";
    case RunState::kFinished:
      return "finished";
  }
  return "";
}

Json ToJson(const FolderStatus& status) {
  Json reasons = Json::array(), shards = Json::array();
  for (const FailureReason& reason : status.reasons) {
    reasons.push_back(
        {{"code", reason.code}, {"count", reason.count}, {"example", ToValidUtf8(reason.example)}});
  }
  if (!status.job.front().shard.is_all()) {
    for (const RunsState& runs : status.job) {
      shards.push_back({{"shard", runs.shard.index},
                        {"of", runs.shard.count},
                        {"state", StateName(runs.state)},
                        {"runs", runs.runs}});
    }
  }
  Json json = {{"finished", status.finished()},
               {"documents", status.documents},
               {"documents_failed", status.documents_failed},
               {"documents_listed", status.documents_listed},
               {"pages", status.pages},
               {"pages_failed", status.pages_failed},
               {"failures", status.failures},
               {"reasons", reasons},
               {"core_hours", status.core_s / 3600},
               {"runs", status.runs},
               {"runs_unended", status.runs_unended},
               {"shards", shards}};
  if (status.last_end) {
    json["last_end"] = {{"at", UtcTime(status.last_end->ended_s)},
                        {"result", ToValidUtf8(status.last_end->result)}};
  }
  return json;
}

}  // namespace

const CommandSpec& StatusCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen status OUT [options]"},
      .description =
          "Says what platen ocr has written into the folder OUT and whether it is done: documents "
          "and pages, failures by reason, which shards have finished, what it cost. It reads what "
          "runs have noted in OUT/.platen and changes nothing; runs may be going on.\n\n"
          "  platen status text\n"
          "  until platen status text; do sleep 600; done\n\n"
          "Shards that are not begun here have left nothing in OUT: whether they are to start "
          "still, or never will, only the scheduler knows. After a change of their number, or a "
          "run without --shard, only the latest job counts.\n",
      .options = StatusOptions(),
      .exit_codes = {{"0", "the latest job is finished, and nothing failed"},
                     {"1", "it is finished, and pages or documents failed"},
                     {"130",
                      "it is not finished: runs are going on, have stopped before their "
                      "end, or have not begun"}},
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

int RunStatusCommand(const Words& words) {
  const auto settings = ParseCommand(StatusCommand(), words);
  if (!settings) return kExitDone;
  const FolderStatus status = ReadStatus(ResultsFolder(*settings, "status"));
  if (status.damaged_records > 0) {
    Log(LogLevel::kWarning,
        Counted(status.damaged_records, "damaged line") + " in ledgers, ignored");
  }
  if (settings->Flag("json")) {
    fmt::print("{}\n", ToJson(status).dump(1, ' ', false, Json::error_handler_t::replace));
  } else {
    fmt::print("{}", Text(status));
  }
  return ExitCodeOf(status);
}

}  // namespace platen
