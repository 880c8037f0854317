#include "stages/formats/qpdf_objects.h"

#include <utility>

#include "model/support/error.h"

namespace platen {
namespace {

using Json = QpdfObjects::Json;

constexpr int kMostParents = 64;

const Json& Nothing() {
  static const Json nothing;
  return nothing;
}

}  // namespace

std::string ObjectKey(const std::string& reference) { return "obj:" + reference; }

void QpdfObjects::Fail(const std::string& reason) {
  throw Error(ErrorKind::kInput, {"qpdf's description", ""}, reason);
}

QpdfObjects::QpdfObjects(std::string_view description) {
  Json all = Json::parse(description, nullptr, /*allow_exceptions=*/false);
  const bool sound = all.is_object() && all.contains("qpdf") && all["qpdf"].is_array() &&
                     all["qpdf"].size() == 2 && all["qpdf"][0].is_object() &&
                     all["qpdf"][1].is_object();
  if (!sound) Fail("is not JSON of version 2");
  if (all.contains("pages")) pages_ = std::move(all["pages"]);
  if (!pages_.is_array()) Fail("is not JSON of version 2");
  head_ = std::move(all["qpdf"][0]);
  known_ = std::move(all["qpdf"][1]);
}

const Json& QpdfObjects::Resolved(const Json& value) const {
  const Json* at = &value;
  for (int i = 0; i < kMostParents && at->is_string(); ++i) {
    const auto found = known_.find(ObjectKey(at->get_ref<const std::string&>()));
    if (found == known_.end()) return *at;  // a name or a string
    const auto inside = found->find("value");
    if (inside == found->end()) return Nothing();  // a stream
    at = &*inside;
  }
  return *at;
}

const Json& QpdfObjects::Inherited(const Json& page, const char* key) const {
  const Json* node = &page;
  for (int i = 0; i < kMostParents && node->is_object(); ++i) {
    if (const auto found = node->find(key); found != node->end()) return Resolved(*found);
    const auto parent = node->find("/Parent");
    if (parent == node->end()) break;
    node = &Resolved(*parent);
  }
  return Nothing();
}

const Json& QpdfObjects::Stream(const Json& reference) const {
  const Json* at = &reference;
  for (int i = 0; i < kMostParents && at->is_string(); ++i) {
    const auto found = known_.find(ObjectKey(at->get_ref<const std::string&>()));
    if (found == known_.end() || !found->is_object()) break;
    const auto stream = found->find("stream");
    if (stream != found->end()) return stream->is_object() ? *stream : Nothing();
    const auto value = found->find("value");
    if (value == found->end()) break;
    at = &*value;
  }
  return Nothing();
}

}  // namespace platen
