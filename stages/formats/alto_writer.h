// .alto.xml: ALTO 4.4, one file for each page (docs/ARCHIVE_FORMATS.md).
#pragma once

#include "stages/formats/document_writer.h"
#include "stages/formats/placed_page.h"
#include "stages/formats/xml_writer.h"

namespace platen {

class AltoWriter : public DocumentWriter {
 public:
  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;

 private:
  XmlWriter xml_;
};

}  // namespace platen
