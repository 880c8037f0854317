#include "pipeline/document_outputs.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "model/support/display_text.h"
#include "stages/page_pictures.h"

namespace platen {

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

std::vector<WrittenFile> WriteOutputsOf(OutputsOf document, const RenderOptions& render,
                                        Ledger& ledger) {
  DocumentRecord& record = document.record;
  DocumentPages pages{std::max(1, static_cast<int>(document.pages.size())), [&](int index) {
                        return document.page(document.pages.empty()
                                                 ? 0
                                                 : document.pages[static_cast<size_t>(index)]);
                      }};
  pages.of_pages = record.of_pages;
  pages.images = std::move(document.images);
  const DocumentInfo info = {DisplayName(record.output), document.settings,
                             record.input.content.sha256};
  // Outputs without a record pass for the success of an earlier run. These are none, and a crash
  // may leave some of them.
  if (record.failed > 0) ledger.RecordDocument(record, document.pages);
  const std::vector<WrittenFile> written =
      WriteDocument(ledger.root(), record.output, ledger.identity().formats, info, pages,
                    ledger.temporary(), render);
  record.rendering = ledger.identity().rendering;
  for (const WrittenFile& file : written) record.output_bytes[file.suffix] = file.bytes;
  ledger.RemoveStalePages(record.output, written);
  ledger.RecordDocument(std::move(record), document.pages);
  return written;
}

}  // namespace platen
