#include "tests/apps/platen/program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

[[noreturn]] void Become(const ProgramRun& run, const TempFolder& streams) {
  if (!run.folder.empty() && ::chdir(run.folder.c_str()) != 0) ::_exit(126);
  std::vector<char*> argv;
  static std::string program = PLATEN_PROGRAM;
  argv.push_back(program.data());
  for (const std::string& word : run.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  for (const std::string& setting : run.environment) ::putenv(const_cast<char*>(setting.c_str()));
  const bool redirected = std::freopen((streams / "in").c_str(), "r", stdin) != nullptr &&
                          std::freopen((streams / "out").c_str(), "w", stdout) != nullptr &&
                          std::freopen((streams / "err").c_str(), "w", stderr) != nullptr;
  if (redirected) ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

}  // namespace

ProgramResult RunProgram(const ProgramRun& run) {
  const TempFolder streams;
  streams.Write("in", run.input);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) Become(run, streams);
  int status = 0;
  while (::waitpid(child, &status, run.meanwhile ? WNOHANG : 0) == 0) {
    run.meanwhile(child);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ProgramResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = ReadFile(streams / "out");
  result.err = ReadFile(streams / "err");
  return result;
}

}  // namespace platen::testing
