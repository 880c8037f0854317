// .hocr: hOCR 1.2 as XHTML, for tools that lay text over the image (docs/ARCHIVE_FORMATS.md).
#pragma once

#include "stages/formats/document_writer.h"
#include "stages/formats/placed_page.h"
#include "stages/formats/xml_writer.h"

namespace platen {

class HocrWriter : public DocumentWriter {
 public:
  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;

 private:
  void AddRegion(const PlacedRegion& region, const std::string& number);
  void AddParagraph(const std::vector<PlacedLine>& lines, const Place& place,
                    const std::string& number);
  void AddLine(const PlacedLine& line, const std::string& number);

  XmlWriter xml_;
  std::string source_;
  int pages_ = 0;
};

}  // namespace platen
