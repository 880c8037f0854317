#include "model/support/error.h"

namespace platen {
namespace {

std::string PlaceText(const TextPlace& place) {
  return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
}

// "file, line 3, column 5: field: reason" or "file: field (offset 12): reason", leaving out what is
// empty.
std::string Describe(const ErrorLocation& location, const std::string& reason) {
  std::string text;
  const auto append = [&text](const char* separator, const std::string& part) {
    if (!text.empty() && !part.empty()) text += separator;
    text += part;
  };
  append("", location.file);
  if (location.place) append(", ", PlaceText(*location.place));
  append(": ", location.field);
  if (location.offset && !location.place) {
    text += (text.empty() ? "(offset " : " (offset ") + std::to_string(*location.offset) + ")";
  }
  append(": ", reason);
  return text;
}

}  // namespace

Error::Error(ErrorKind kind, ErrorLocation location, const std::string& reason)
    : std::runtime_error(Describe(location, reason)),
      kind_(kind),
      location_(std::move(location)),
      reason_(reason) {}

}  // namespace platen
