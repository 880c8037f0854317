// Output formats. A writer turns page results into the bytes of one file, page by page, so that a
// document of any length needs the memory of one page.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stages/formats/page_result.h"
#include "stages/formats/render_options.h"

namespace platen {

// Pure: strings in, strings out. The file is Begin + Page + Page + ... + End. Called by one thread.
class DocumentWriter {
 public:
  virtual ~DocumentWriter() = default;
  virtual std::string Begin(const DocumentInfo& info) = 0;
  virtual std::string Page(const PageResult& page) = 0;  // in page order
  virtual std::string End() = 0;
};

// "txt", "md", "json": also the file name extensions, in the order of --help.
const std::vector<std::string>& KnownFormats();

// Throws Error(kUsage) for an unknown format.
std::unique_ptr<DocumentWriter> MakeDocumentWriter(const std::string& format,
                                                   const RenderOptions& options = {});

}  // namespace platen
