// Files a test writes: unique names in the test's temporary folder, removed at the end.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace platen::testing {

using Bytes = std::vector<uint8_t>;

inline Bytes ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot open");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A folder of its own, gone with all its content when the object goes.
class TempFolder {
 public:
  TempFolder() {
    static std::atomic<int> counter = 0;
    path_ = std::filesystem::path(::testing::TempDir()) /
            ("platen-" + std::to_string(getpid()) + "-" + std::to_string(++counter));
    std::filesystem::create_directories(path_);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return path_.string(); }

  // Writes a file and returns its path.
  std::string Write(const std::string& name, std::string_view content) const {
    const std::string file = (path_ / name).string();
    // Some file systems flush a file to disk when it is overwritten; a new one is quick.
    std::filesystem::remove(file);
    std::ofstream(file, std::ios::binary).write(content.data(), std::ssize(content));
    return file;
  }
  std::string Write(const std::string& name, std::span<const uint8_t> content) const {
    return Write(name, {reinterpret_cast<const char*>(content.data()), content.size()});
  }

 private:
  std::filesystem::path path_;
};

}  // namespace platen::testing
