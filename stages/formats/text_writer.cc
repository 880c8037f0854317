#include "stages/formats/text_writer.h"

#include <algorithm>

#include "model/support/utf8.h"

namespace platen {

std::string TextWriter::Begin(const DocumentInfo&) {
  first_page_ = true;
  return "";
}

std::string TextWriter::Page(const PageResult& page) {
  std::string out = first_page_ ? "" : "\f";
  first_page_ = false;
  bool first_region = true;
  for (const RegionResult& region : page.regions) {
    if (region.text.empty()) continue;
    if (!first_region) out += '\n';
    first_region = false;
    std::string text = ToValidUtf8(region.text);
    std::replace(text.begin(), text.end(), '\f', ' ');
    out += text;
    out += '\n';
  }
  return out;
}

std::string TextWriter::End() { return ""; }

}  // namespace platen
