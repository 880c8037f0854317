// A file of JSON lines that depend on time: what a run did for each page or request.
#pragma once

#include <string>
#include <string_view>

#include "model/support/folder.h"

namespace platen {

class MetricsFile {
 public:
  // Empties a file that is there. Throws Error(kEnvironment) if it cannot be written.
  explicit MetricsFile(const std::string& path);

  // One line of JSON, without its end. Throws Error(kEnvironment).
  void Append(std::string_view json);

 private:
  std::string path_;
  UniqueFd fd_;
};

}  // namespace platen
