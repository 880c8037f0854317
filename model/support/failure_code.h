// Why a page or document failed, as a short stable name that programs can tell apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace platen {

enum class FailureCode {
  kDecodeError,     // damaged, cut off, or nothing that its name says
  kUnsupported,     // of a format that is known but not read
  kEncrypted,       // needs a password that was not given
  kTooLarge,        // over a limit: pixels, bytes, pages, the attention cache
  kNotFound,        // not there any more
  kUnreadable,      // there, but it cannot be opened or read
  kNoSuchPage,      // has none of the pages that were asked for
  kTimeout,         // a limit of time was reached; another run may do it
  kOutOfMemory,     // of this process
  kModel,           // recognition failed
  kOutput,          // its results cannot be written under their names
  kMissingProgram,  // that reads such files
  kCancelled,       // nobody wants it any more
  kInternal,        // anything else
};

// "decode_error", "unsupported", ...: the same in all versions.
const char* FailureCodeName(FailureCode code);
std::optional<FailureCode> FailureCodeFrom(std::string_view name);

// What went wrong with one thing among many; empty: nothing did.
struct Fault {
  std::string text;
  FailureCode code = FailureCode::kInternal;

  bool empty() const { return text.empty(); }
  void clear() { *this = {}; }
};

}  // namespace platen
