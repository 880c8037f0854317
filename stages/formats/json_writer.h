// .json: pages, their regions and lines with boxes, text and confidence (docs/OUTPUTS.md).
#pragma once

#include "stages/formats/document_writer.h"

namespace platen {

class JsonWriter : public DocumentWriter {
 public:
  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;

 private:
  bool first_page_ = true;
};

}  // namespace platen
