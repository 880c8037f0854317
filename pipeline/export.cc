#include "pipeline/export.h"

#include <algorithm>
#include <memory>

#include "model/support/error.h"
#include "pipeline/document_outputs.h"
#include "stages/formats/document_writer.h"
#include "stages/page_pictures.h"

namespace platen {
namespace {

constexpr char kNotStored[] = "no stored results; platen ocr reads it";

// Nothing if a page is missing.
std::unique_ptr<PageFile> StoredPages(const Ledger& ledger, const DocumentRecord& record,
                                      const std::vector<int>& pages) {
  if (record.input.key.empty() || pages.empty()) return nullptr;
  std::unique_ptr<PageFile> stored = ledger.results().Open(record.input.key);
  const bool all =
      std::all_of(pages.begin(), pages.end(), [&](int page) { return stored->Has(page); });
  return all ? std::move(stored) : nullptr;
}

class Exporter {
 public:
  Exporter(Ledger& ledger, const RenderOptions& render, const ExportTools& tools)
      : ledger_(ledger), render_(render), tools_(tools) {}

  void Export(const DocumentRecord& record) {
    const std::vector<int> pages = SelectPages(record.pages, record.of_pages);
    const std::unique_ptr<PageFile> stored = StoredPages(ledger_, record, pages);
    if (!stored) {
      report_.not_exported.push_back({record.name, kNotStored});
      return;
    }
    const std::vector<DocumentSetting>& settings = stored->head()->settings;
    std::unique_ptr<DocumentReader> reader;
    if (ShowPages(ledger_.identity().formats)) {
      try {
        reader = OpenUnchanged(ledger_, record, settings, tools_.open);
      } catch (const Error& e) {
        if (e.kind() == ErrorKind::kEnvironment) throw;
        report_.not_exported.push_back({record.name, e.what()});
        return;
      }
    }
    OutputsOf document{record, pages, settings, PicturesOf(reader.get(), record.source),
                       [&](int page) { return stored->Read(page); }};
    document.record.output_bytes.clear();
    for (const WrittenFile& file : WriteOutputsOf(std::move(document), render_, ledger_)) {
      ++report_.files;
      report_.bytes += file.bytes;
      if (!file.note.empty()) report_.notes.push_back({file.path, file.note});
    }
    ++report_.documents;
    report_.pages += static_cast<int64_t>(pages.size());
  }

  ExportReport& report() { return report_; }

 private:
  Ledger& ledger_;
  const RenderOptions& render_;
  const ExportTools& tools_;
  ExportReport report_;
};

}  // namespace

ExportReport ExportDocuments(Ledger& ledger, const RenderOptions& render,
                             const ExportTools& tools) {
  Exporter exporter(ledger, render, tools);
  ledger.ForEach([&](const DocumentRecord& record) {
    if (!tools.interrupted()) exporter.Export(record);
  });
  return std::move(exporter.report());
}

}  // namespace platen
