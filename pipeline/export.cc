#include "pipeline/export.h"

#include <algorithm>
#include <memory>

#include "pipeline/document_outputs.h"

namespace platen {
namespace {

// Nothing if a page is missing.
std::unique_ptr<PageFile> StoredPages(const Ledger& ledger, const DocumentRecord& record,
                                      const std::vector<int>& pages) {
  if (record.input.key.empty() || pages.empty()) return nullptr;
  std::unique_ptr<PageFile> stored = ledger.results().Open(record.input.key);
  const bool all =
      std::all_of(pages.begin(), pages.end(), [&](int page) { return stored->Has(page); });
  return all ? std::move(stored) : nullptr;
}

}  // namespace

ExportReport ExportDocuments(Ledger& ledger, const RenderOptions& render,
                             const std::function<bool()>& interrupted) {
  ExportReport report;
  ledger.ForEach([&](const DocumentRecord& record) {
    if (interrupted()) return;
    const std::vector<int> pages = SelectPages(record.pages, record.of_pages);
    const std::unique_ptr<PageFile> stored = StoredPages(ledger, record, pages);
    if (!stored) {
      report.without_results.push_back(record.name);
      return;
    }
    OutputsOf document{record, pages, stored->head()->settings,
                       [&](int page) { return stored->Read(page); }};
    document.record.output_bytes.clear();
    for (const WrittenFile& file : WriteOutputsOf(std::move(document), render, ledger)) {
      ++report.files;
      report.bytes += file.bytes;
    }
    ++report.documents;
    report.pages += static_cast<int64_t>(pages.size());
  });
  return report;
}

}  // namespace platen
