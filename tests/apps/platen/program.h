// Runs the program as a user does: words, environment, standard streams, exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace platen::testing {

struct ProgramResult {
  int exit_code = -1;  // 128 + signal if one ended it
  std::string out;
  std::string err;
};

struct ProgramRun {
  std::vector<std::string> words;
  std::string input = "";                       // standard input
  std::vector<std::string> environment = {};    // "NAME=value", added to this process's
  std::string folder = "";                      // working directory; empty: this process's
  std::function<void(int pid)> meanwhile = {};  // called again and again while it runs
};

ProgramResult RunProgram(const ProgramRun& run);

inline ProgramResult RunProgram(std::vector<std::string> words) {
  return RunProgram(ProgramRun{std::move(words)});
}

}  // namespace platen::testing
