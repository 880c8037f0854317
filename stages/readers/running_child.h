// A program that runs beside this one, and the pipes to it. Private to this folder's sources.
#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "stages/readers/child_process.h"

namespace platen {

// A pipe whose ends close on their own. Neither is one of the standard streams, even where those
// are closed. Throws Error(kEnvironment) in the name of `program`.
class Pipe {
 public:
  explicit Pipe(const std::string& program);
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void CloseReadEnd() { Close(ends_[0]); }
  void CloseWriteEnd() { Close(ends_[1]); }

 private:
  static void Close(int& fd);
  std::array<int, 2> ends_ = {-1, -1};
};

// A running child. On destruction it and its whole process group are killed and it is reaped.
class RunningChild {
 public:
  // Starts arguments[0] as RunChild does. `output` and `errors` become its standard output and
  // standard error; they stay the caller's, and are none of the standard streams' descriptors.
  // `file_bytes`: the most it may write into any file. Throws as RunChild does.
  RunningChild(const std::vector<std::string>& arguments, const ChildLimits& limits,
               size_t file_bytes, int output, int errors);
  RunningChild(const RunningChild&) = delete;
  RunningChild& operator=(const RunningChild&) = delete;
  ~RunningChild();

  enum class State { kRuns, kEnded, kUnknown };

  // An ended child stays a zombie, so that its number is not used again. Unknown: whoever started
  // this program left SIGCHLD ignored, and children vanish without a trace.
  State Look() const;

  // Ends what is left of the process group; returns the wait status. Call it once.
  int KillAndReap();

 private:
  void FailIfNotStarted(const std::string& program, int report);

  pid_t pid_ = -1;
  bool reaped_ = false;
};

}  // namespace platen
