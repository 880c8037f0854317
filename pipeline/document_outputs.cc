#include "pipeline/document_outputs.h"

#include <algorithm>
#include <utility>

#include "model/support/display_text.h"

namespace platen {

std::vector<WrittenFile> WriteOutputsOf(OutputsOf document, const RenderOptions& render,
                                        Ledger& ledger) {
  DocumentRecord& record = document.record;
  const DocumentPages pages{
      std::max(1, static_cast<int>(document.pages.size())), [&](int index) {
        return document.page(document.pages.empty() ? 0
                                                    : document.pages[static_cast<size_t>(index)]);
      }};
  const std::vector<std::string>& formats = ledger.identity().formats;
  const DocumentInfo info = {DisplayName(record.output), document.settings,
                             record.input.content.sha256};
  const std::vector<WrittenFile> written =
      WriteDocument(ledger.root(), record.output, formats, info, pages, ledger.temporary(), render);
  record.rendering = ledger.identity().rendering;
  for (size_t i = 0; i < written.size(); ++i) record.output_bytes[formats[i]] = written[i].bytes;
  ledger.RecordDocument(std::move(record), document.pages);
  return written;
}

}  // namespace platen
