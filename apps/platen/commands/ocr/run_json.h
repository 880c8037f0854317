// run.json: what a run was asked, on what it ran, and what came of it. Beside the outputs, because
// what depends on time or order has no place in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/platen/cli/settings.h"
#include "apps/platen/commands/ocr/ocr_report.h"
#include "model/families/model.h"
#include "pipeline/run.h"
#include "pipeline/timeline.h"
#include "stages/inputs/discover.h"

namespace platen {

struct RunFacts {
  const Settings& settings;
  const std::vector<std::string>& words;  // of the command line, after "ocr"
  const RunOptions& options;
  const RunReport& report;
  std::string model_dir;
  std::string packed_file;  // the weights are mapped from it; empty: packed in memory
  std::optional<UsedDraftHead> draft_head;  // nothing: the model's own drafts
  std::string kernels;                      // name of the kernel table
  double load_s = 0;                        // wall time until the model was ready
  double load_cpu_s = 0;
  const Discovery& discovery;  // what was not read, and why
  const std::vector<DoubtfulPage>& doubtful;
  const std::vector<TimelinePoint>& timeline;
  int64_t started_s = 0;  // since 1970
  int64_t run = 0;  // its number in the folder
  Shard shard;
  std::string exit;  // "done", "some pages failed", "interrupted", ...
};

// For people, and on one line.
struct RunJsonTexts {
  std::string file;
  std::string line;
};
RunJsonTexts RunJson(const RunFacts& facts);

// The same in short, for the ledger.
RunEnd EndOf(const RunFacts& facts);

// Pages read per core and hour: the CPU time of the run, child processes included, model loading
// not. 0 if nothing was read.
double PagesPerCoreHour(const RunReport& report);

}  // namespace platen
