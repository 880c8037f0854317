#include "pipeline/document_outputs.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "model/support/clock.h"
#include "model/support/display_text.h"
#include "stages/page_pictures.h"

namespace platen {
namespace {

// A fifth of the time is spent on syncs at the most, so a document waits only where they are slow.
constexpr int64_t kWaitsPerSync = 4;
constexpr int64_t kLongestWaitNs = 1'000'000'000;

DocumentPages PagesOf(OutputsOf& document) {
  DocumentPages pages{std::max(1, static_cast<int>(document.pages.size())), [&](int index) {
                        return document.page(document.pages.empty()
                                                 ? 0
                                                 : document.pages[static_cast<size_t>(index)]);
                      }};
  pages.of_pages = document.record.of_pages;
  pages.images = std::move(document.images);
  return pages;
}

}  // namespace

void KeepPicturesOf(const DocumentReader& reader, const std::string& path,
                    const std::vector<int>& pages, const PageFile& stored, KeptPictures& kept,
                    const std::function<bool()>& stopped) {
  std::mutex reading;
  const auto read = [&](int page) {
    const std::lock_guard lock(reading);
    return stored.Read(page);
  };
  // Whoever waits here begins no work of other documents.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(size_t{0}, pages.size(), [&](size_t i) {
      if (!stopped()) KeepPictures(reader, path, read(pages[i]), nullptr, kept);
    });
  });
}

// Outputs without a record pass for the success of an earlier run. Those of a failed document are
// none, and a crash may leave some of them: a record of the failure is on disk before they appear.
OutputBatch::OutputBatch(Ledger& ledger, const RenderOptions& render)
    : ledger_(ledger), render_(render), files_([&ledger] { ledger.Sync(); }) {}

void OutputBatch::Add(OutputsOf document, Done done) {
  DocumentRecord& record = document.record;
  const DocumentInfo info = {DisplayName(record.output), document.settings,
                             record.input.content.sha256};
  if (record.failed > 0) ledger_.RecordDocument(record, document.pages);
  const size_t group = files_.BeginGroup();
  std::vector<WrittenFile> written =
      WriteDocument(ledger_.root(), record.output, ledger_.identity().formats, info,
                    PagesOf(document), ledger_.temporary(), render_, files_);
  record.rendering = ledger_.identity().rendering;
  for (const WrittenFile& file : written) record.output_bytes[file.suffix] = file.bytes;
  documents_.push_back(
      {std::move(record), std::move(document.pages), std::move(written), group, std::move(done)});
}

void OutputBatch::CommitIfDue() {
  if (documents_.empty()) return;
  const int64_t wait_ns = std::min(kLongestWaitNs, kWaitsPerSync * last_took_ns_);
  if (MonotonicNs() - last_end_ns_ >= wait_ns) Commit();
}

void OutputBatch::Commit() {
  const int64_t start_ns = MonotonicNs();
  files_.Commit();
  std::vector<Waiting> documents = std::exchange(documents_, {});
  std::vector<OutputsWritten> results;
  for (Waiting& waiting : documents) {
    OutputsWritten result{std::move(waiting.files), files_.TakeFailure(waiting.group)};
    if (!result.failure) {
      ledger_.RemoveStalePages(waiting.record.output, result.files);
      ledger_.RecordDocument(std::move(waiting.record), waiting.pages);
    }
    results.push_back(std::move(result));
  }
  ledger_.Sync();
  last_end_ns_ = MonotonicNs();
  last_took_ns_ = last_end_ns_ - start_ns;
  for (size_t i = 0; i < documents.size(); ++i) documents[i].done(std::move(results[i]));
}

}  // namespace platen
