#include "pipeline/document_outputs.h"

#include <algorithm>
#include <utility>

#include "model/support/display_text.h"

namespace platen {

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
  // Outputs without a record pass for the success of an earlier run. These are none, and a crash may
  // leave some of them.
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
