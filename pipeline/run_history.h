// What runs into an output folder have done, one after another: OUT/.platen/runs/, and that of a
// shard in its own folder.
//
//   2026-11-24T22-00-00Z-7.run.jsonl        run.json of run 7 on one line
//   2026-11-24T22-00-00Z-7.documents.jsonl  the documents that it brought to their end
//
// Names say when a run started and, because clocks may be set back, its number. A run that was
// killed has left its documents alone. No name ends in .json: who looks for outputs finds none of
// these.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "pipeline/batch_sink.h"

namespace platen {

// Writes that of one run; used by one thread at a time. All members throw Error(kEnvironment).
class RunHistory {
 public:
  // `state`: OUT/.platen, or the shard's folder, outlives it as `temporary` does. `started`: its
  // time, "2026-11-24T22:00:00Z".
  RunHistory(const Folder& state, const Folder& temporary, const std::string& started, int64_t run);

  // A line: input, output, state ("read", "failed", "kept"), pages, failed, at_s.
  void AddDocument(const FinishedDocument& document, double at_s);
  void Finish(const std::string& run_json);  // on one line, without its end

 private:
  Folder folder_;
  const Folder& temporary_;
  std::string name_;
  UniqueFd documents_;
};

// A run that came to its end.
struct PastRun {
  std::string name;  // "2026-11-24T22-00-00Z-7"
  int64_t number = 0;
  std::string json;
};

// The latest first, at most `most`. `state` as above. Files that cannot be read, or are larger than
// a report of a run can be, are left out. Throws Error(kEnvironment).
std::vector<PastRun> PastRuns(const Folder& state, size_t most);

}  // namespace platen
