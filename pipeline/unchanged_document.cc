#include "pipeline/unchanged_document.h"

#include "model/support/display_text.h"
#include "model/support/error.h"

namespace platen {

std::unique_ptr<DocumentReader> OpenUnchanged(const KnownDocuments& known,
                                              const DocumentRecord& record,
                                              const std::vector<DocumentSetting>& settings,
                                              const OpenAsItWasRead& open) {
  InputDocument input;
  input.path = record.source;
  input.output = record.output;
  input.name = record.name;
  if (known.Know(input).content.sha256 != record.input.content.sha256) {
    throw Error(ErrorKind::kInput, {DisplayName(record.source), ""},
                "is not the file that was read; platen ocr reads it");
  }
  return open(record.source, settings);
}

}  // namespace platen
