// .md: paragraphs, headings, lists and tables that read well as they are and on any renderer.
#pragma once

#include "stages/formats/document_writer.h"

namespace platen {

// Each page starts with the comment "<!-- page N -->", or "<!-- page N: why it failed or is
// doubtful -->". Text that was read line by line is plain text: its paragraphs are joined to one
// line each and escaped. A region read as a whole is the model's own Markdown and is left as it is.
// Running heads, footers and page numbers are left out; the .txt and .json have them.
class MarkdownWriter : public DocumentWriter {
 public:
  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;
};

}  // namespace platen
