// The end of the line: pages arrive in order, are kept, and become the outputs of their document
// when its last page is there.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/ledger.h"
#include "pipeline/messages.h"
#include "pipeline/progress.h"
#include "pipeline/telemetry.h"

namespace platen {

struct SinkOptions {
  std::vector<std::pair<std::string, std::string>> settings;  // shown in the outputs
  double low_confidence = 0.5;  // lines whose mean token probability is below are counted
};

// A page or document that failed, for the report.
struct Failure {
  std::string name;  // DisplayName of the input
  int page = 0;      // 0: the document
  std::string error;
};

// Used by one thread at a time: the write stage is serial and gets the pages in order.
class DocumentSink {
 public:
  DocumentSink(SinkOptions options, Ledger& ledger, ProgressCounters& counters,
               Telemetry& telemetry);

  // Keeps the slot's result; with the last page of a document writes its outputs. Throws
  // Error(kEnvironment) when the disk refuses: the run ends and can be resumed.
  void Write(PageSlot& page);

  // The first kMaxFailures of them, in order.
  static constexpr size_t kMaxFailures = 1000;
  const std::vector<Failure>& failures() const { return failures_; }
  int64_t failures_not_listed() const { return failures_not_listed_; }

 private:
  void KeepPage(OpenDocument& document, const PageResult& page);
  void FinishDocument(OpenDocument& document);
  int WriteOutputs(OpenDocument& document);  // number of failed pages
  void AddFailure(const OpenDocument& document, int page, const std::string& error);
  void CountPage(const PageResult& page);

  SinkOptions options_;
  Ledger& ledger_;
  ProgressCounters& counters_;
  Telemetry& telemetry_;
  std::vector<Failure> failures_;
  int64_t failures_not_listed_ = 0;
};

}  // namespace platen
