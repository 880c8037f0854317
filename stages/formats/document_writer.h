// Output formats. A writer turns page results into the bytes of one file, page by page, so that a
// document of any length needs the memory of one page.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stages/formats/page_images.h"
#include "stages/formats/page_result.h"
#include "stages/formats/render_options.h"

namespace platen {

// Pure: strings in, strings out. The file is Begin + Page + Page + ... + End, and Begin starts the
// next one. Called by one thread.
class DocumentWriter {
 public:
  virtual ~DocumentWriter() = default;
  virtual std::string Begin(const DocumentInfo& info) = 0;
  virtual std::string Page(const PageResult& page) = 0;  // in page order
  virtual std::string End() = 0;
};

// How the files of a format are named, behind the document's name and a dot.
struct OutputNaming {
  std::string extension;
  bool per_page = false;  // a file for each page, which is Begin + Page + End
};

// Whether any of the formats shows the pages: their files are needed to write it.
bool ShowPages(const std::vector<std::string>& formats);

// Whether any of the formats shows them so.
bool Shows(const std::vector<std::string>& formats, PageView view);

// Whether a file of the format is what PageImages::over_file gives, where there is one and it can.
bool GoesOverFile(const std::string& format);

// Names of formats, in the order of --help.
const std::vector<std::string>& KnownFormats();

// Throws Error(kUsage) for an unknown format.
OutputNaming NamingOf(const std::string& format);

// What stands behind the document's name and a dot: "txt", or, of a format with a file for each
// page, "p0007.EXTENSION" for page 7 of a document of several, and "EXTENSION" otherwise.
std::string OutputSuffix(const std::string& format, int page, int of_pages);

// A file of one page: "STEM.p0007.EXTENSION" of a format that has such files.
struct PageFileName {
  std::string stem;
  std::string format;
};

// Nothing: it is no such name, or has no stem.
std::optional<PageFileName> ParsePageFileName(std::string_view name);

// The format that has files of this suffix; empty: none has.
std::string FormatOfSuffix(std::string_view suffix);

// `images`: for the formats that show the pages; an exception of theirs comes through. Throws
// Error(kUsage) for an unknown format.
std::unique_ptr<DocumentWriter> MakeDocumentWriter(const std::string& format,
                                                   const RenderOptions& options = {},
                                                   const PageImages& images = {});

}  // namespace platen
