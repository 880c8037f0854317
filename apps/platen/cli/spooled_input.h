// Standard input as a file: documents are read at several places, a stream only once.
#pragma once

#include <string>
#include <string_view>

#include "model/support/folder.h"

namespace platen {

// A file without a name in the system's temporary folder: nothing remains of it, however the
// program ends.
class SpooledInput {
 public:
  // `head` and everything that follows on standard input. Throws Error(kEnvironment).
  explicit SpooledInput(std::string_view head);

  // Leads to the file for this process and its children, while this object lives.
  std::string path() const;

 private:
  UniqueFd fd_;
};

// Up to `most` bytes of standard input. Throws Error(kEnvironment).
std::string ReadStandardInput(size_t most);

}  // namespace platen
