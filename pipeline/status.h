// What runs have left in an output folder, and whether they are done: read from ledgers alone, so
// that it is quick, disturbs no run and needs no right to write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/ledger_record.h"
#include "pipeline/shard.h"

namespace platen {

enum class RunState {
  kNoRun,     // none has started, as far as this folder shows
  kRunning,   // holds its lock
  kStopped,   // interrupted or killed: there is work left
  kFinished,  // its last run came to its end, whatever failed
};

// Runs of one shard, or those without.
struct RunsState {
  Shard shard;
  RunState state = RunState::kNoRun;
  int64_t last_run = 0;                // number of the last that has started
  std::optional<RunEnd> end = {};      // of the last that came to its end, perhaps an earlier one
  int64_t runs = 0, runs_unended = 0;  // started; without an end: running, or killed
  double core_s = 0;                   // of those that came to their end
};

struct FailureReason {
  std::string code;     // FailureCodeName; "unknown" of an earlier version's
  std::string example;  // as the first of them says it
  int64_t count = 0;
};

struct FolderStatus {
  int64_t documents = 0;         // that have outputs
  int64_t documents_failed = 0;  // of them, with failed pages
  int64_t documents_listed = 0;  // that the last runs of `job` had to do with, as far as they ended
  int64_t pages = 0;             // in the outputs
  int64_t pages_failed = 0;
  int64_t failures = 0;                // in failures.jsonl of the last runs of `job`
  std::vector<FailureReason> reasons;  // of them, the most frequent first
  int64_t runs = 0, runs_unended = 0;  // of all that have written here
  double core_s = 0;                   // of those that came to their end
  std::optional<RunEnd> last_end;      // of the run that came to its end last
  std::vector<RunsState> job;  // the latest job: a run without a shard, or all shards of one number
  int64_t damaged_records = 0;

  bool finished() const;
};

// Of a folder that platen ocr has written to. Shards that have not started, or of which nothing is
// here, have kNoRun: which of the two cannot be known. Throws Error(kEnvironment).
FolderStatus ReadStatus(const std::string& output_dir);

}  // namespace platen
