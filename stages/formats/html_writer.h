// .html: one page for checking a document by eye, which needs no other file and no network
// (docs/ARCHIVE_FORMATS.md).
#pragma once

#include "stages/formats/document_writer.h"
#include "stages/formats/page_images.h"
#include "stages/formats/placed_page.h"
#include "stages/formats/xml_writer.h"

namespace platen {

class HtmlWriter : public DocumentWriter {
 public:
  explicit HtmlWriter(PageImages images) : images_(std::move(images)) {}

  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;

 private:
  void AddScan(const PageResult& result, const PlacedPage& page);
  void AddNote(const std::string& text);

  PageImages images_;
  XmlWriter xml_;
  int pages_ = 0;
};

}  // namespace platen
