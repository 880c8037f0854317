// The folders as floors of a house: a file includes only what stands in its own folder or in one
// that its folder may know (docs/ARCHITECTURE.md, Folders). Read from the #include lines of the
// source tree, so that no build configuration can hide an arrow that runs back.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = PLATEN_SOURCE_DIR;

// A folder knows those above it.
const std::vector<std::string> kFloors = {
    "model/support",
    "model/hub",
    "model/kernels",
    "model/ops",
    "model/tokenizer",
    "model/checkpoint",
    "model/families",
    "model/families/glm_input",
    "model/families/glm_ocr",
    "model/families/minillm",
    "model/families/pp_doclayout",
    "model/engine",
    "model/training",
    "stages/readers",
    "stages/layout",
    "stages/layout/classical",
    "stages/formats",
    "stages/inputs",
    "stages",
    "include/platen",
    "pipeline",
    "bench",
    "apps/platen",
};

// Arrows that the order of the floors does not allow, and why they are needed.
const std::map<std::string, std::set<std::string>> kExceptions = {
    // The list of families that come with the program.
    {"model/families/built_in.cc",
     {"model/families/glm_ocr", "model/families/minillm", "model/families/pp_doclayout"}},
};

struct SourceFile {
  std::string path;  // from the root
  std::string text;
};

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool IsSource(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".cc" || extension == ".h" || extension == ".inc";
}

const std::vector<SourceFile>& Sources() {
  static const std::vector<SourceFile> sources = [] {
    std::vector<SourceFile> files;
    for (const char* top : {"include", "model", "stages", "pipeline", "bench", "apps"}) {
      if (!fs::exists(kRoot / top)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
        if (!entry.is_regular_file() || !IsSource(entry.path())) continue;
        files.push_back(
            {fs::relative(entry.path(), kRoot).generic_string(), ReadText(entry.path())});
      }
    }
    return files;
  }();
  return sources;
}

// The floor a path stands on: the longest folder of kFloors that holds it; -1: none.
int FloorOf(const std::string& path) {
  int floor = -1;
  size_t longest = 0;
  for (size_t i = 0; i < kFloors.size(); ++i) {
    if (!path.starts_with(kFloors[i] + "/") || kFloors[i].size() <= longest) continue;
    floor = static_cast<int>(i);
    longest = kFloors[i].size();
  }
  return floor;
}

std::vector<std::string> IncludesOf(const SourceFile& file) {
  static const std::regex include("(^|\n)\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  std::vector<std::string> names;
  for (auto it = std::sregex_iterator(file.text.begin(), file.text.end(), include);
       it != std::sregex_iterator(); ++it) {
    const std::string name = (*it)[2];
    names.push_back(name.starts_with("platen/") ? "include/" + name : name);
  }
  return names;
}

// The file without comments and the contents of string literals.
std::string CodeOf(const std::string& text) {
  static const std::regex noise(
      R"re(//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|"(?:[^"\\\n]|\\.)*")re");
  return std::regex_replace(text, noise, "\"\"");
}

TEST(Layers, EverySourceFileStandsOnAFloor) {
  ASSERT_GT(Sources().size(), 300U);
  for (const SourceFile& file : Sources()) EXPECT_GE(FloorOf(file.path), 0) << file.path;
}

TEST(Layers, NoIncludeRunsBackUp) {
  size_t arrows = 0;
  for (const SourceFile& file : Sources()) {
    const int from = FloorOf(file.path);
    for (const std::string& name : IncludesOf(file)) {
      const int to = FloorOf(name);
      if (to < 0) continue;  // of the system or of a library
      ++arrows;
      EXPECT_TRUE(fs::exists(kRoot / name)) << file.path << " includes " << name;
      const auto exception = kExceptions.find(file.path);
      if (exception != kExceptions.end() &&
          exception->second.contains(kFloors[static_cast<size_t>(to)])) {
        continue;
      }
      EXPECT_LE(to, from) << file.path << " includes " << name << ", which stands below "
                          << kFloors[static_cast<size_t>(from)];
    }
  }
  EXPECT_GT(arrows, 500U);
}

// A family never knows another, nor anything generic a family by name. What families share that
// stand behind the same images is no family.
TEST(Layers, OnlyTheListOfFamiliesNamesAFamily) {
  for (const SourceFile& file : Sources()) {
    for (const std::string& name : IncludesOf(file)) {
      static const std::regex family("model/families/([a-z0-9_]+)/.*");
      std::smatch match;
      if (!std::regex_match(name, match, family)) continue;
      if (match[1].str() == "glm_input" && file.path.starts_with("model/families/")) continue;
      const std::string own = "model/families/" + match[1].str() + "/";
      EXPECT_TRUE(file.path.starts_with(own) || file.path == "model/families/built_in.cc")
          << file.path << " includes " << name;
    }
  }
}

TEST(Layers, ThePublicHeadersIncludeTheStandardLibraryAlone) {
  size_t headers = 0;
  for (const SourceFile& file : Sources()) {
    const bool is_public = file.path.starts_with("include/platen/");
    headers += is_public;
    for (const std::string& name : IncludesOf(file)) {
      if (is_public) {
        EXPECT_TRUE(name.starts_with("include/platen/") ||
                    name.find_first_of("./") == std::string::npos)
            << file.path << " includes " << name;
      } else if (name.starts_with("include/platen/")) {
        EXPECT_TRUE(file.path.starts_with("pipeline/library/"))
            << file.path << " includes " << name;
      }
    }
  }
  EXPECT_GT(headers, 4U);
}

TEST(Layers, OnlyThePipelineKnowsTheFlowGraph) {
  for (const SourceFile& file : Sources()) {
    if (file.path.starts_with("pipeline/")) continue;
    for (const std::string& name : IncludesOf(file)) {
      EXPECT_EQ(name.find("flow_graph.h"), std::string::npos) << file.path << " includes " << name;
    }
  }
}

TEST(Layers, OneFileKnowsOpenBlas) {
  for (const SourceFile& file : Sources()) {
    if (CodeOf(file.text).find("cblas.h") == std::string::npos) continue;
    EXPECT_EQ(file.path, "model/training/products.cc");
  }
}

TEST(Layers, OnlyTheProgramPrintsOrExits) {
  static const std::regex output(
      R"re((^|[^\w])(std::cout|std::cerr|printf|std::printf|puts|std::puts|putchar|std::exit|exit|_exit|abort|std::abort|quick_exit|std::terminate)\s*(\(|<<))re");
  for (const SourceFile& file : Sources()) {
    if (file.path.starts_with("apps/")) continue;
    const std::string code = CodeOf(file.text);
    std::smatch match;
    if (!std::regex_search(code, match, output)) continue;
    // The child between fork and exec has no other way to end.
    if (file.path == "stages/readers/running_child.cc" && match[2] == "_exit") continue;
    // Measuring programs of their own.
    if (file.path == "bench/layout_pages.cc") continue;
    if (file.path == "bench/mtp_from_scratch/main.cc") continue;
    if (file.path == "bench/draft_training.cc") continue;
    ADD_FAILURE() << file.path << " uses " << match[2];
  }
}

}  // namespace
