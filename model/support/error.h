// Errors that come from outside the program: files, configurations, model snapshots, the machine.
//
// An Error names where the trouble is (file, field, place in it; each may be empty) and the reason,
// in words a user can act on. It is thrown by readers and loaders and caught at a boundary: a page
// becomes a page result with its error, a command ends with the exit code of the kind.
// Programmer errors are asserts, never Errors.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "model/support/failure_code.h"
#include "model/support/text_place.h"

namespace platen {

enum class ErrorKind {
  kInput,        // an image, PDF or list of inputs: one page or document fails, the run goes on
  kUsage,        // command line or run configuration: exit code 2
  kModel,        // snapshot folder: config, tokenizer, checkpoint: exit code 3
  kEnvironment,  // disk, memory, missing programs: exit code 3
};

struct ErrorLocation {
  std::string file;                     // as the user named it; empty if none
  std::string field;                    // config key, tensor name, option; empty if none
  std::optional<uint64_t> offset = {};  // byte offset in `file`
  std::optional<TextPlace> place = {};  // the same in a text file; named in its stead
};

class Error : public std::runtime_error {
 public:
  // `code`: that of the document or page which fails of it; without one, the usual of the kind.
  Error(ErrorKind kind, ErrorLocation location, const std::string& reason,
        std::optional<FailureCode> code = std::nullopt);

  ErrorKind kind() const { return kind_; }
  FailureCode code() const { return code_; }
  const ErrorLocation& location() const { return location_; }
  const std::string& reason() const { return reason_; }  // without the location; what() has both

 private:
  ErrorKind kind_;
  FailureCode code_;
  ErrorLocation location_;
  std::string reason_;
};

// Runs `work`; an Error out of it becomes one of `kind`, whatever it was: the caller knows whose
// fault it is.
template <typename Work>
auto WithErrorKind(ErrorKind kind, Work&& work) {
  try {
    return work();
  } catch (const Error& e) {
    throw Error(kind, e.location(), e.reason(), e.code());
  }
}

}  // namespace platen
