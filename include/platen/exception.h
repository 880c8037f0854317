// What the library throws.
#pragma once

#include <stdexcept>
#include <string>

#include "platen/export.h"

namespace platen {

class PLATEN_API Exception : public std::runtime_error {
 public:
  enum class Cause {
    kUsage,        // an option or argument that makes no sense
    kInput,        // the document: cannot be opened, is of no format that is read, was cancelled
    kModel,        // the snapshot folder: config, tokenizer, weights
    kEnvironment,  // the machine: memory, disk, missing programs
  };

  // `what` names the file and field, where there is one, and the reason.
  Exception(Cause cause, const std::string& what);
  ~Exception() override;

  Cause cause() const noexcept { return cause_; }

 private:
  Cause cause_;
};

}  // namespace platen
