// What platen ocr says of a run: what happens while it happens, and a summary at the end.
#pragma once

#include <string>
#include <vector>

#include "apps/platen/commands/ocr/ocr_target.h"
#include "pipeline/batch_sink.h"
#include "pipeline/run.h"
#include "stages/inputs/discover.h"

namespace platen {

// A page that was read, but perhaps not well.
struct DoubtfulPage {
  std::string name;    // DisplayName of the input
  std::string output;  // path of its outputs, without their endings
  int page = 0;
  int of_pages = 0;
  Doubt doubt;
};

// Used by one thread at a time while the run goes on.
class OcrReport {
 public:
  static constexpr size_t kDoubtsShown = 10;       // on standard error
  static constexpr size_t kDoubtsListed = 10'000;  // in run.json; each document's .json has its own

  // Logs failures when they happen, and with --log-level debug every page and document.
  void OnFailure(const Failure& failure);
  void OnPage(const InputDocument& input, const PageResult& page, int of_pages);
  void OnDocument(const FinishedDocument& document);

  const std::vector<DoubtfulPage>& doubtful() const { return doubtful_; }

  // What was done and what was not, in two or three lines.
  std::string Summary(const RunReport& report) const;
  // Where the results are: the file itself if there is one document. run.json and failures.jsonl
  // lie in `reports_dir`.
  std::string WhereResultsAre(const RunReport& report, const std::string& output_dir,
                              const std::string& reports_dir) const;
  // Warns of doubtful pages, `pages` in all.
  void WarnOfDoubts(int64_t pages, const OcrTarget& target, const std::string& reports_dir) const;

 private:
  std::vector<DoubtfulPage> doubtful_;
  std::vector<WrittenFile> first_outputs_;
  int64_t documents_ = 0;
};

// Says what a search for documents left out, if anything.
void LogSkipped(const Discovery& discovery);

}  // namespace platen
