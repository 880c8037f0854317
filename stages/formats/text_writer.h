// .txt: the lines as they stand, a blank line between blocks, a form feed between pages.
#pragma once

#include "stages/formats/document_writer.h"

namespace platen {

// A page that failed or is blank is an empty page, so page numbers stay right: the file has exactly
// one form feed less than the document has pages. Form feeds inside recognised text become spaces.
class TextWriter : public DocumentWriter {
 public:
  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;

 private:
  bool first_page_ = true;
};

}  // namespace platen
