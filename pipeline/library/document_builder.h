// From the pipeline's page results to the library's documents.
#pragma once

#include <vector>

#include "platen/document.h"
#include "stages/formats/page_result.h"

namespace platen {

Page ToPage(const PageResult& from);

struct DocumentBuilder {
  static Document Build(DocumentInfo info, std::vector<PageResult> results);
};

}  // namespace platen
