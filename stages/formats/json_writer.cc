#include "stages/formats/json_writer.h"

#include <nlohmann/json.hpp>

#include "stages/formats/page_json.h"

namespace platen {

std::string JsonWriter::Begin(const DocumentInfo& info) {
  first_page_ = true;
  using Json = nlohmann::ordered_json;
  std::string out = "{\n \"schema\": 2,\n \"source\": " + Json(info.source).dump() + ",\n";
  if (!info.sha256.empty()) out += " \"source_sha256\": " + Json(info.sha256).dump() + ",\n";
  out += " \"settings\": {";
  bool first = true;
  for (const auto& [name, value, is_literal] : info.settings) {
    out += first ? "\n" : ",\n";
    first = false;
    out += "  " + Json(name).dump() + ": " + (is_literal ? value : Json(value).dump());
  }
  return out + "\n },\n \"pages\": [\n";
}

std::string JsonWriter::Page(const PageResult& page) {
  const std::string separator = first_page_ ? "" : ",\n";
  first_page_ = false;
  return separator + PageToPrettyJson(page, 2);
}

std::string JsonWriter::End() { return first_page_ ? " ]\n}\n" : "\n ]\n}\n"; }

}  // namespace platen
