// .page.xml: PAGE 2019-07-15, one file for each page (docs/ARCHIVE_FORMATS.md).
#pragma once

#include "stages/formats/document_writer.h"
#include "stages/formats/xml_writer.h"

namespace platen {

class PageXmlWriter : public DocumentWriter {
 public:
  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;

 private:
  XmlWriter xml_;
  std::string file_name_;  // of the image, without its folders
};

}  // namespace platen
