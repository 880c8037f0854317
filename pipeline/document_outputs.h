// The outputs of a document, and their record.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/ledger.h"
#include "stages/formats/render_options.h"
#include "stages/kept_pictures.h"
#include "stages/readers/document_reader.h"

namespace platen {

struct OutputsOf {
  DocumentRecord record;  // input, name, source, output, of_pages and failed; the rest is filled in
  std::vector<int> pages;                 // ascending, that are in the outputs
  std::vector<DocumentSetting> settings;  // they were read with
  // For formats that show the pages; see PicturesOf.
  PageImages images = {};
  // A page of them. If there is none, page 0: what is wrong with the document.
  std::function<PageResult(int page)> page;
};

// Keeps what the outputs show of the pages, all of which are stored. On all threads of the pool, a
// page on each. `stopped`, called by several at once: true, the rest is left. Throws
// Error(kEnvironment).
void KeepPicturesOf(const DocumentReader& reader, const std::string& path,
                    const std::vector<int>& pages, const PageFile& stored, KeptPictures& kept,
                    const std::function<bool()>& stopped);

// Writes the document in every format of the ledger's identity and records it. Throws as
// WriteDocument and Ledger do.
std::vector<WrittenFile> WriteOutputsOf(OutputsOf document, const RenderOptions& render,
                                        Ledger& ledger);

}  // namespace platen
