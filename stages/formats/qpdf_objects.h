// Objects of a PDF as qpdf describes them (JSON, version 2). Anything may stand in them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace platen {

// Only for reading; references are valid as long as it lives.
class QpdfObjects {
 public:
  using Json = nlohmann::ordered_json;

  QpdfObjects() = default;
  // What `qpdf --json=2 --json-key=qpdf` says, with --json-key=pages too if pages are asked for.
  // Throws Error(kInput) if it is none.
  explicit QpdfObjects(std::string_view description);

  const Json& pages() const { return pages_; }
  const Json& head() const { return head_; }  // of the objects

  // The object's value, if `value` is a reference to one; else itself. Of a stream: null.
  const Json& Resolved(const Json& value) const;
  // Of the page or the nodes above it, resolved; null: nowhere.
  const Json& Inherited(const Json& page, const char* key) const;
  // Of the stream that `reference` leads to, {"dict":, "data":}; null: it leads to none.
  const Json& Stream(const Json& reference) const;

  [[noreturn]] static void Fail(const std::string& reason);

 private:
  Json pages_ = Json::array();
  Json head_ = Json::object();
  Json known_ = Json::object();  // by key
};

// Its name in the description.
std::string ObjectKey(const std::string& reference);

}  // namespace platen
