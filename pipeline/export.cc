#include "pipeline/export.h"

#include <sys/stat.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/support/error.h"
#include "pipeline/document_outputs.h"
#include "stages/formats/document_writer.h"
#include "stages/inputs/output_clashes.h"
#include "stages/page_pictures.h"

namespace platen {
namespace {

constexpr char kNotStored[] = "no stored results; platen ocr reads it";
constexpr char kShowsScan[] = "; html and pdf show the scan, all other formats do without it";

// Nothing if a page is missing.
std::unique_ptr<PageFile> StoredPages(const Ledger& ledger, const DocumentRecord& record,
                                      const std::vector<int>& pages) {
  if (record.input.key.empty() || pages.empty()) return nullptr;
  std::unique_ptr<PageFile> stored = ledger.results().Open(record.input.key);
  const bool all =
      std::all_of(pages.begin(), pages.end(), [&](int page) { return stored->Has(page); });
  return all ? std::move(stored) : nullptr;
}

// The scans may lie in the output folder.
void RefuseToReplaceScans(const Ledger& ledger) {
  DocumentList documents;
  std::map<FileId, std::string> scans;
  ledger.ForEach([&](const DocumentRecord& record) {
    InputDocument document;
    document.path = record.source;
    document.output = record.output;
    document.name = record.name;
    documents.Add(document);
    struct stat info = {};
    if (::stat(record.source.c_str(), &info) == 0) scans.emplace(FileIdOf(info), record.source);
  });
  RefuseClashes({ledger.root().path(), ledger.identity().formats, documents, {}, scans});
}

// A document on its way to its outputs.
struct Prepared {
  std::vector<int> pages;
  std::unique_ptr<PageFile> stored;
  std::unique_ptr<DocumentReader> reader;  // null: no output shows the pages
  std::unique_ptr<KeptPictures> shown;
  std::string refusal;  // not empty: why it has no outputs
};

class Exporter {
 public:
  Exporter(Ledger& ledger, const RenderOptions& render, const ExportTools& tools)
      : ledger_(ledger), tools_(tools), outputs_(ledger, render) {}

  // What takes long, on any thread.
  Prepared Prepare(const DocumentRecord& record) const {
    Prepared document;
    document.pages = SelectPages(record.pages, record.of_pages);
    document.stored = StoredPages(ledger_, record, document.pages);
    if (!document.stored) {
      document.refusal = kNotStored;
    } else if (ShowPages(ledger_.identity().formats)) {
      try {
        Show(record, document);
      } catch (const Error& e) {
        if (e.kind() == ErrorKind::kEnvironment) throw;
        document.refusal = e.what() + std::string(kShowsScan);
      }
    }
    return document;
  }

  void Write(const DocumentRecord& record, const Prepared& prepared) {
    if (!prepared.refusal.empty()) {
      report_.not_exported.push_back({record.name, prepared.refusal});
      return;
    }
    OutputsOf document{
        record, prepared.pages, prepared.stored->head()->settings,
        PicturesOf(prepared.reader.get(), record.source, kLongestSide, prepared.shown.get()),
        [&](int page) { return prepared.stored->Read(page); }};
    document.record.output_bytes.clear();
    outputs_.Add(std::move(document),
                 [this, pages = prepared.pages.size()](const OutputsWritten& written) {
                   if (written.failure) throw *written.failure;
                   for (const WrittenFile& file : written.files) {
                     ++report_.files;
                     report_.bytes += file.bytes;
                     if (!file.note.empty()) report_.notes.push_back({file.path, file.note});
                   }
                   ++report_.documents;
                   report_.pages += static_cast<int64_t>(pages);
                 });
    outputs_.CommitIfDue();
  }

  void Finish() { outputs_.Commit(); }

  ExportReport& report() { return report_; }

 private:
  void Show(const DocumentRecord& record, Prepared& document) const {
    document.reader =
        OpenUnchanged(ledger_, record, document.stored->head()->settings, tools_.open);
    document.shown =
        std::make_unique<KeptPictures>(ledger_.identity().formats, ledger_.temporary());
    KeepPicturesOf(*document.reader, record.source, document.pages, *document.stored,
                   *document.shown, tools_.interrupted);
  }

  Ledger& ledger_;
  const ExportTools& tools_;
  ExportReport report_;
  OutputBatch outputs_;
};

}  // namespace

ExportReport ExportDocuments(Ledger& ledger, const RenderOptions& render,
                             const ExportTools& tools) {
  RefuseToReplaceScans(ledger);
  std::vector<const DocumentRecord*> records;
  ledger.ForEach([&](const DocumentRecord& record) { records.push_back(&record); });
  Exporter exporter(ledger, render, tools);
  // Some documents for each thread are prepared at once, then written in their order.
  const auto window = static_cast<size_t>(4 * tbb::this_task_arena::max_concurrency());
  for (size_t begin = 0; begin < records.size() && !tools.interrupted(); begin += window) {
    std::vector<Prepared> prepared(std::min(window, records.size() - begin));
    tbb::parallel_for(size_t{0}, prepared.size(), [&](size_t i) {
      if (!tools.interrupted()) prepared[i] = exporter.Prepare(*records[begin + i]);
    });
    for (size_t i = 0; i < prepared.size() && !tools.interrupted(); ++i) {
      exporter.Write(*records[begin + i], prepared[i]);
    }
  }
  exporter.Finish();
  return std::move(exporter.report());
}

}  // namespace platen
