// Programs of the tests' own under the names of others.
#pragma once

#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "tests/support/temp_files.h"

namespace platen::testing {

// True if this process has no children left, not even zombies.
inline bool NoChildrenLeft() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

// PATH with a folder of scripts first, restored at the end.
class FakePrograms {
 public:
  FakePrograms() : old_path_(std::getenv("PATH")) {
    setenv("PATH", (folder_.path() + ":" + old_path_).c_str(), 1);
  }
  ~FakePrograms() { setenv("PATH", old_path_.c_str(), 1); }
  void Write(const std::string& name, const std::string& script) const {
    chmod(folder_.Write(name, "#!/bin/sh\n" + script).c_str(), 0755);
  }
  const TempFolder& folder() const { return folder_; }

 private:
  TempFolder folder_;
  std::string old_path_;
};

}  // namespace platen::testing
