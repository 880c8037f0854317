#include "model/support/error.h"

namespace platen {
namespace {

// "file: field (offset 12): reason", leaving out what is empty.
std::string Describe(const ErrorLocation& location, const std::string& reason) {
  std::string text;
  auto append = [&text](const std::string& part) {
    if (!text.empty()) text += ": ";
    text += part;
  };
  if (!location.file.empty()) append(location.file);
  if (!location.field.empty()) append(location.field);
  if (location.offset) text += " (offset " + std::to_string(*location.offset) + ")";
  append(reason);
  return text;
}

}  // namespace

Error::Error(ErrorKind kind, ErrorLocation location, const std::string& reason)
    : std::runtime_error(Describe(location, reason)),
      kind_(kind),
      location_(std::move(location)),
      reason_(reason) {}

}  // namespace platen
