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

FailureCode UsualCode(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInput:
      return FailureCode::kDecodeError;
    case ErrorKind::kModel:
      return FailureCode::kModel;
    case ErrorKind::kUsage:
    case ErrorKind::kEnvironment:
      break;
  }
  return FailureCode::kInternal;
}

}  // namespace

Error::Error(ErrorKind kind, ErrorLocation location, const std::string& reason,
             std::optional<FailureCode> code)
    : std::runtime_error(Describe(location, reason)),
      kind_(kind),
      code_(code.value_or(UsualCode(kind))),
      location_(std::move(location)),
      reason_(reason) {}

}  // namespace platen
