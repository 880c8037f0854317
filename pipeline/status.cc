#include "pipeline/status.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/support/error.h"
#include "model/support/json_fields.h"
#include "pipeline/failure_log.h"
#include "pipeline/record_lines.h"
#include "pipeline/run_lock.h"

namespace platen {
namespace {

// What counts of the last record of a document.
struct KnownDocument {
  int64_t run = 0;
  int pages = 0;
  int failed = 0;
};
using KnownDocuments = std::unordered_map<std::string, KnownDocument>;

// One ledger, and what it adds to what is known.
RunsState ReadRuns(const Folder& folder, const Shard& shard, KnownDocuments& documents,
                   int64_t& damaged) {
  RunsState runs{shard};
  bool ended = false;
  LedgerVisitor visitor;
  visitor.start = [&](int64_t run) {
    runs.runs_unended += runs.runs > 0 && !ended;
    ++runs.runs;
    runs.last_run = std::max(runs.last_run, run);
    ended = false;
  };
  visitor.end = [&](int64_t, const RunEnd& end) {
    runs.end = end;
    runs.core_s += end.core_s;
    ended = true;
  };
  visitor.document = [&](const DocumentRecord& record) {
    KnownDocument& known = documents[record.output];
    if (record.run >= known.run) known = {record.run, record.num_pages, record.failed};
  };
  damaged += ReadLedger(folder, visitor);
  if (runs.runs == 0) return runs;
  runs.runs_unended += !ended;
  runs.state = ended && !runs.end->interrupted ? RunState::kFinished
               : !ended && IsLocked(folder)    ? RunState::kRunning
                                               : RunState::kStopped;
  return runs;
}

// The shards of the number of the run that started last: 0 for one without a shard.
int LastCount(const std::vector<RunsState>& all) {
  const auto last = std::max_element(
      all.begin(), all.end(),
      [](const RunsState& a, const RunsState& b) { return a.last_run < b.last_run; });
  return last->shard.count;
}

std::vector<RunsState> JobOf(const std::vector<RunsState>& all) {
  const int count = LastCount(all);
  std::vector<RunsState> job(static_cast<size_t>(std::max(1, count)));
  for (size_t i = 0; count > 0 && i < job.size(); ++i) {
    job[i].shard = {static_cast<int>(i) + 1, count};
  }
  for (const RunsState& runs : all) {
    if (runs.shard.count != count) continue;
    job[static_cast<size_t>(std::max(0, runs.shard.index - 1))] = runs;
  }
  return job;
}

// A document that was not among those of a later run that finished is no longer asked for.
bool StillFails(const KnownDocument& document, const RunsState& runs) {
  if (document.failed == 0) return false;
  return runs.state != RunState::kFinished || document.run >= runs.last_run;
}

void CountDocuments(const KnownDocuments& documents, FolderStatus& status) {
  const int count = status.job.front().shard.count;
  for (const auto& [output, document] : documents) {
    const int index = count == 0 ? 0 : ShardOf(output, count).index - 1;
    const bool fails = StillFails(document, status.job[static_cast<size_t>(index)]);
    ++status.documents;
    status.pages += document.pages;
    status.documents_failed += fails;
    status.pages_failed += fails ? document.failed : 0;
  }
}

// Failures by their codes, of which the file of an earlier version has none.
class Reasons {
 public:
  void Add(const std::string& code, const std::string& error) {
    const std::string known = FailureCodeFrom(code) ? code : "unknown";
    FailureReason& reason = reasons_.try_emplace(known, FailureReason{known, error}).first->second;
    ++reason.count;
  }

  void AddTo(FolderStatus& status) const {
    for (const auto& [code, reason] : reasons_) status.reasons.push_back(reason);
    std::stable_sort(
        status.reasons.begin(), status.reasons.end(),
        [](const FailureReason& a, const FailureReason& b) { return a.count > b.count; });
  }

 private:
  std::map<std::string, FailureReason> reasons_;
};

// Lines that are no failures say nothing.
void AddFailures(const Folder& folder, FolderStatus& status, Reasons& reasons) {
  ForEachLineOf(folder, FailureLog::kFileName, [&](const std::string& line) {
    const auto json = ParseShallow<nlohmann::json>(line);
    if (!json.is_object() || !json.contains("error") || !json["error"].is_string()) return;
    ++status.failures;
    const auto code = json.find("code");
    reasons.Add(code != json.end() && code->is_string() ? code->get<std::string>() : "",
                json["error"].get<std::string>());
  });
}

void AddRuns(const RunsState& runs, FolderStatus& status) {
  status.runs += runs.runs;
  status.runs_unended += runs.runs_unended;
  status.core_s += runs.core_s;
}

// Of shards of one number, which do not count each other's runs, as their clocks say.
std::optional<RunEnd> LastEnd(const std::vector<RunsState>& all) {
  const int count = LastCount(all);
  const auto key = [count](const RunsState& runs) {
    const bool of_job = runs.shard.count == count;
    return std::tuple(runs.end.has_value(), of_job, of_job ? 0 : runs.last_run,
                      runs.end ? runs.end->ended_s : 0);
  };
  return std::max_element(all.begin(), all.end(),
                          [&](const RunsState& a, const RunsState& b) { return key(a) < key(b); })
      ->end;
}

FolderStatus Read(const std::string& output_dir) {
  const Folder root = Folder::Open(output_dir, Folder::Missing::kFail);
  const Folder common = root.Below(".platen", Folder::Missing::kFail);
  FolderStatus status;
  KnownDocuments documents;
  std::vector<RunsState> all = {ReadRuns(common, {}, documents, status.damaged_records)};
  for (const Shard& shard : ShardsIn(common)) {
    all.push_back(ReadRuns(common.Below(ShardPath(shard), Folder::Missing::kFail), shard, documents,
                           status.damaged_records));
  }
  for (const RunsState& runs : all) AddRuns(runs, status);
  status.last_end = LastEnd(all);
  status.job = JobOf(all);
  CountDocuments(documents, status);
  Reasons reasons;
  for (const RunsState& runs : status.job) {
    if (runs.state == RunState::kNoRun) continue;
    if (runs.end) status.documents_listed += runs.end->documents;
    AddFailures(runs.shard.is_all() ? root.Below("", Folder::Missing::kFail)
                                    : common.Below(ShardPath(runs.shard), Folder::Missing::kFail),
                status, reasons);
  }
  reasons.AddTo(status);
  return status;
}

}  // namespace

bool FolderStatus::finished() const {
  return std::all_of(job.begin(), job.end(),
                     [](const RunsState& each) { return each.state == RunState::kFinished; });
}

FolderStatus ReadStatus(const std::string& output_dir) {
  return WithErrorKind(ErrorKind::kEnvironment, [&] { return Read(output_dir); });
}

}  // namespace platen
