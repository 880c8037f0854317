// .pdf: the images of the pages with their text over them, invisible: searchable PDF/A-2b
// (docs/ARCHIVE_FORMATS.md).
#pragma once

#include <optional>

#include "stages/formats/document_writer.h"
#include "stages/formats/page_images.h"
#include "stages/formats/pdf_objects.h"
#include "stages/formats/pdf_parts.h"
#include "stages/formats/placed_page.h"

namespace platen {

class PdfWriter : public DocumentWriter {
 public:
  explicit PdfWriter(PageImages images) : images_(std::move(images)) {}

  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;

 private:
  // Numbers of the objects that pages refer to.
  struct Shared {
    int catalog = 0, pages = 0, font = 0;
  };

  int AddImage(const PageResult& page);  // 0: there is none
  void AddFont();

  PageImages images_;
  DocumentInfo info_;
  std::optional<PdfObjects> objects_;
  CodeTable codes_;
  Shared shared_;
  std::vector<int> pages_;  // their numbers
};

}  // namespace platen
