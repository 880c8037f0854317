// platen ocr in a folder of its own, with sample pages.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/apps/platen/program.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Documents' outputs by name; not the run's own reports and what begins with a dot.
inline std::map<std::string, std::string> Outputs(const std::string& folder) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    const bool report = name == "run.json" || name == "failures.jsonl";
    if (!entry.is_regular_file() || report || name.starts_with(".platen")) continue;
    files[name] = ReadFile(entry.path().string());
  }
  return files;
}

class OcrFixture : public ::testing::Test {
 protected:
  void CopySample(const std::string& name, const std::string& to) {
    namespace fs = std::filesystem;
    fs::create_directories((fs::path(folder_.path()) / to).parent_path());
    fs::copy_file(SourcePath("assets/samples/" + name), folder_ / to);
  }

  ProgramResult Ocr(std::vector<std::string> words, const std::string& input = "",
                    std::vector<std::string> environment = {}) {
    words.insert(words.begin(), "ocr");
    return RunProgram(ProgramRun{std::move(words), input, std::move(environment), folder_.path()});
  }

  nlohmann::json Report(const std::string& out = "out") {
    return nlohmann::json::parse(ReadFile(folder_ / out + "/run.json"));
  }

  bool Exists(const std::string& name) { return std::filesystem::exists(folder_ / name); }

  TempFolder folder_;
};

}  // namespace platen::testing
