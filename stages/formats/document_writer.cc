#include "stages/formats/document_writer.h"

#include "model/support/error.h"
#include "stages/formats/json_writer.h"
#include "stages/formats/markdown_writer.h"
#include "stages/formats/text_writer.h"

namespace platen {

const std::vector<std::string>& KnownFormats() {
  static const std::vector<std::string> formats = {"txt", "md", "json"};
  return formats;
}

std::unique_ptr<DocumentWriter> MakeDocumentWriter(const std::string& format,
                                                   const RenderOptions& options) {
  if (format == "txt") return std::make_unique<TextWriter>(options);
  if (format == "md") return std::make_unique<MarkdownWriter>(options);
  if (format == "json") return std::make_unique<JsonWriter>();
  throw Error(ErrorKind::kUsage, {"", "format"},
              "unknown output format \"" + format + "\"; known: txt, md, json");
}

}  // namespace platen
