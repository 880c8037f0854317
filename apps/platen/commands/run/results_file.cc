#include "apps/platen/commands/run/results_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen {
namespace {

constexpr size_t kMostResultBytes = size_t{64} << 20;  // of a line: far beyond any answer
constexpr size_t kHashLength = 64;

ResultsFile::Kept KeptFrom(const std::string& text, const std::string& path, size_t place) {
  try {
    const nlohmann::json json = ParseJson(text, path, 0);
    const JsonObject line(json, path);
    return {line.Int64("line", 1, INT64_MAX), line.String("request", kHashLength),
            line.Has("error")};
  } catch (const Error&) {
    throw Error(ErrorKind::kInput, {path, ""},
                "line " + std::to_string(place) +
                    " is no result of platen run; give another -o, or --force to write it anew");
  }
}

}  // namespace

ResultsFile::ResultsFile(const std::string& path, bool force) : path_(path) {
  if (path.empty() || path == "-") return;
  const auto [parent, name] = Folder::OpenParent(path, Folder::Missing::kCreate);
  fd_ = parent.OpenFile(name, O_RDWR | O_CREAT | (force ? O_TRUNC : 0));
  ReadKept();
}

void ResultsFile::ReadKept() {
  std::array<char, 1 << 16> buffer = {};
  std::string line;
  off_t complete = 0;  // bytes of lines that have an end
  for (;;) {
    const ssize_t count = ::read(fd_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) ThrowFileError(path_, "be read", errno);
    if (count == 0) break;
    for (const char c : std::string_view(buffer.data(), static_cast<size_t>(count))) {
      if (c != '\n') {
        line.push_back(c);
        if (line.size() > kMostResultBytes) {
          throw Error(ErrorKind::kInput, {path_, ""}, "is no results file: a line is too long");
        }
        continue;
      }
      complete += static_cast<off_t>(line.size()) + 1;
      kept_.push_back(KeptFrom(line, path_, kept_.size() + 1));
      line.clear();
    }
  }
  if (::ftruncate(fd_.get(), complete) != 0) ThrowFileError(path_, "be shortened", errno);
  if (::lseek(fd_.get(), 0, SEEK_END) < 0) ThrowFileError(path_, "be written", errno);
}

void ResultsFile::Append(std::string_view json) {
  std::string line(json);
  line += '\n';
  if (fd_) {
    WriteAll(fd_.get(), line, path_);
    return;
  }
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorKind::kEnvironment, {}, "cannot write to standard output");
  }
}

void ResultsFile::Sync() {
  if (fd_ && ::fdatasync(fd_.get()) != 0) ThrowFileError(path_, "be written", errno);
}

}  // namespace platen
