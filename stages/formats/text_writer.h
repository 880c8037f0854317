// .txt: the lines as they stand, a blank line between blocks, a form feed between pages.
#pragma once

#include "stages/formats/document_writer.h"
#include "stages/formats/render_options.h"

namespace platen {

// A page that failed or is blank is an empty page, so page numbers stay right: the file has exactly
// one form feed less than the document has pages. Form feeds inside recognised text become spaces.
// With RenderOptions::reflow a paragraph, heading or list item is one line.
class TextWriter : public DocumentWriter {
 public:
  explicit TextWriter(const RenderOptions& options = {}) : options_(options) {}

  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;

 private:
  RenderOptions options_;
  bool first_page_ = true;
};

}  // namespace platen
