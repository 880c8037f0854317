// What stands in a ledger, one JSON object a line: runs, their pages and documents.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "pipeline/document_content.h"
#include "stages/inputs/discover.h"

namespace platen {

// An input, and the name of its results: of its content and its recognition.
struct KnownInput {
  FileStamp stamp;
  DocumentContent content;
  std::string key;
};

// What was written of a document.
struct DocumentRecord {
  KnownInput input;                             // without a key: of an earlier version
  std::string name;                             // of the input, for people
  std::string source;                           // the input's absolute path
  std::string output;                           // path of the outputs without their endings
  std::vector<PageRange> pages;                 // that are in its outputs, ascending and apart
  int num_pages = 0;                            // in the outputs
  int of_pages = 0;                             // in the document
  int failed = 0;                               // of the pages in the outputs
  std::map<std::string, int64_t> output_bytes;  // by suffix (see OutputSuffix)
  std::string rendering;                        // of the outputs
  int64_t run = 0;                              // number of the run that wrote them

  bool whole() const { return failed == 0 && num_pages == of_pages; }
};

// How a run ended that came to its end. One that was killed has a start alone.
struct RunEnd {
  std::string result;     // "done", "some pages failed", "interrupted", ...
  int64_t ended_s = 0;    // seconds since 1970
  int64_t documents = 0;  // it had to do with, finished before or not
  int64_t failures = 0;   // of documents and pages
  double core_s = 0;      // CPU time of all it did, loading the model included
  bool interrupted = false;
};

// Who wants to know of a ledger; each may be empty.
struct LedgerVisitor {
  std::function<void(DocumentRecord)> document;
  std::function<void(int64_t run)> start;
  std::function<void(int64_t run, const RunEnd&)> end;
};

inline constexpr char kLedgerName[] = "ledger.jsonl";

// Numbers of runs grow with each that may touch the same documents, whatever clocks say: a run
// takes the next after all it has read. The largest stands for all beyond it.
inline constexpr int64_t kMaxRun = int64_t{1} << 53;

// Reads the ledger of the folder, if there is one. Lines that are no records (cut short by a crash)
// say nothing; returns how many of them look like a document's. Throws as ForEachLineOf.
int64_t ReadLedger(const Folder& folder, const LedgerVisitor& visitor);

// Lines, without their ends.
std::string DocumentLine(const DocumentRecord& record, const std::vector<int>& pages);
std::string RunEndLine(int64_t run, const RunEnd& end);

// "1-3,7": pages given ascending, each once. The inverse of ParsePageRanges.
std::string FormatPageRanges(const std::vector<int>& pages);

}  // namespace platen
