// Documents that have been read, opened once more to show their pages.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/known_documents.h"
#include "stages/readers/document_reader.h"

namespace platen {

// Opens a document as it was opened when it was read with these settings.
using OpenAsItWasRead = std::function<std::unique_ptr<DocumentReader>(
    const std::string& path, const std::vector<DocumentSetting>& settings)>;

// Throws Error(kInput) if the document is no longer where it was read, or is another.
std::unique_ptr<DocumentReader> OpenUnchanged(const KnownDocuments& known,
                                              const DocumentRecord& record,
                                              const std::vector<DocumentSetting>& settings,
                                              const OpenAsItWasRead& open);

}  // namespace platen
