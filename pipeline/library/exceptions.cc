#include "pipeline/library/exceptions.h"

#include "platen/version.h"

#define PLATEN_TEXT_OF(x) #x
#define PLATEN_TEXT(x) PLATEN_TEXT_OF(x)

namespace platen {

Exception::Exception(Cause cause, const std::string& what)
    : std::runtime_error(what), cause_(cause) {}

Exception::~Exception() = default;

Exception ToException(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::kUsage:
      return {Exception::Cause::kUsage, error.what()};
    case ErrorKind::kInput:
      return {Exception::Cause::kInput, error.what()};
    case ErrorKind::kModel:
      return {Exception::Cause::kModel, error.what()};
    case ErrorKind::kEnvironment:
      break;
  }
  return {Exception::Cause::kEnvironment, error.what()};
}

const char* Version() {
  return PLATEN_TEXT(PLATEN_VERSION_MAJOR) "." PLATEN_TEXT(PLATEN_VERSION_MINOR) "." PLATEN_TEXT(
      PLATEN_VERSION_PATCH);
}

}  // namespace platen
