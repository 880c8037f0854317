// .md: paragraphs, headings, lists and tables that read well as they are and on any renderer.
#pragma once

#include <vector>

#include "stages/formats/document_writer.h"
#include "stages/formats/render_options.h"

namespace platen {

// Each page starts with the comment "<!-- page N -->", or "<!-- page N: why it failed or is
// doubtful -->"; its regions follow as MarkdownBlock has them, with an empty line between them.
// Of running heads, footers, page numbers and footnotes the options say what stays; the .txt and
// .json have them all.
class MarkdownWriter : public DocumentWriter {
 public:
  explicit MarkdownWriter(const RenderOptions& options) : options_(options) {}

  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;

 private:
  bool IsKept(const RegionResult& region) const;
  std::vector<const RegionResult*> KeptOf(const PageResult& page) const;

  RenderOptions options_;
};

}  // namespace platen
