// .tsv: the columns and levels of Tesseract's TSV (docs/ARCHIVE_FORMATS.md).
#pragma once

#include "stages/formats/document_writer.h"

namespace platen {

class TsvWriter : public DocumentWriter {
 public:
  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override { return ""; }
};

}  // namespace platen
