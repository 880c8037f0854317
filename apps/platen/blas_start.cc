#include "apps/platen/blas_start.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "model/ops/open_blas.h"

namespace platen {
namespace {

constexpr char kThreads[] = "OPENBLAS_NUM_THREADS";
constexpr char kCoreType[] = "OPENBLAS_CORETYPE";
constexpr char kFormerCore[] = "PLATEN_FORMER_OPENBLAS_CORE";  // from one start to the next

// "" if it is not set.
std::string Value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool Set(const char* name, const std::string& value) {
  return ::setenv(name, value.c_str(), /*overwrite=*/1) == 0;
}

bool LimitThreads() { return Value(kThreads) != "1" && Set(kThreads, "1"); }

bool CorrectCoreType() {
  if (!BlasCoreAskedFor().empty()) return false;
  const std::string chosen = DescribeOpenBlas().core;
  const std::string better = BetterOpenBlasCore(chosen);
  return !better.empty() && Set(kFormerCore, chosen) && Set(kCoreType, better);
}

}  // namespace

void StartWithBlasSettings(char** argv) {
  const bool threads = LimitThreads();
  const bool core = CorrectCoreType();
  if (!threads && !core) return;
  std::error_code error;  // by its path, so that it keeps its name in lists of processes
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (!error) ::execv(program.c_str(), argv);
  ::execv("/proc/self/exe", argv);
}

std::string BlasCoreAskedFor() { return Value(kCoreType); }

std::string BlasCoreBeforeCorrection() { return Value(kFormerCore); }

}  // namespace platen
