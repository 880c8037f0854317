// platen.json: what a model was trained to read.
#include "model/families/reading_config.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

// A folder with this platen.json, or with none.
class ReadingFile {
 public:
  ReadingFile() = default;
  explicit ReadingFile(const std::string& text) { folder_.Write("platen.json", text); }

  ReadingConfig Read() const {
    return ReadReadingConfig(folder_.path() + "/platen.json", "<|image|>");
  }
  // "file: field" and the reason, or empty if the file is accepted.
  std::pair<std::string, std::string> Refusal() const {
    try {
      Read();
      return {};
    } catch (const Error& error) {
      const std::string file = std::filesystem::path(error.location().file).filename().string();
      return {file + ": " + error.location().field, error.reason()};
    }
  }

 private:
  testing::TempFolder folder_;
};

TEST(ReadingConfig, WithoutAFileIsBlocksWithTheStandardPrompts) {
  const ReadingConfig reading = ReadingFile().Read();
  EXPECT_FALSE(reading.present);
  EXPECT_EQ(reading.granularity, ReadingConfig::Granularity::kBlock);
  EXPECT_EQ(reading.line_height, 0);
  EXPECT_EQ(reading.prompts.at("text"), "Text Recognition:");
  EXPECT_EQ(reading.prompts.at("table"), "Table Recognition:");
  EXPECT_EQ(reading.prompts.at("formula"), "Formula Recognition:");
}

TEST(ReadingConfig, ReadsEveryKey) {
  const ReadingConfig reading =
      ReadingFile(R"({"granularity": "line", "line_height": 32, "x_height": 12.5,
                               "baseline": 24, "max_width": 640, "prompts": {"table": "T:"},
                               "scripts": ["Latin", "Greek"], "tasks": ["text"]})")
          .Read();
  EXPECT_TRUE(reading.present);
  EXPECT_EQ(reading.granularity, ReadingConfig::Granularity::kLine);
  EXPECT_EQ(reading.line_height, 32);
  EXPECT_EQ(reading.x_height, 12.5);
  EXPECT_EQ(reading.baseline, 24.0);
  EXPECT_EQ(reading.max_width, 640);
  EXPECT_EQ(reading.prompts.at("table"), "T:");
  EXPECT_EQ(reading.prompts.at("text"), "Text Recognition:");
  EXPECT_EQ(reading.scripts, (std::vector<std::string>{"Latin", "Greek"}));
  EXPECT_EQ(reading.tasks, std::vector<std::string>{"text"});
}

TEST(ReadingConfig, RefusesWhatItDoesNotKnowByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"granularty": "line"})", "platen.json: granularty"},
      {R"({"granularity": "word"})", "platen.json: granularity"},
      {R"({"line_height": 0})", "platen.json: line_height"},
      {R"({"x_height": 11})", "platen.json: x_height"},
      {R"({"line_height": 28, "baseline": 29})", "platen.json: baseline"},
      {R"({"line_height": 28, "baseline": 20, "x_height": 21})", "platen.json: x_height"},
      {R"({"line_height": 28, "max_width": 20})", "platen.json: max_width"},
      {R"({"prompts": {"txt": "x"}})", "platen.json: prompts.txt"},
      {R"({"prompts": {"text": ""}})", "platen.json: prompts.text"},
      {R"({"prompts": {"text": "<|image|>"}})", "platen.json: prompts.text"},
      {R"({"tasks": ["poem"]})", "platen.json: tasks"},
      {R"({"scripts": "Latin"})", "platen.json: scripts"},
  };
  for (const auto& [text, at] : cases) {
    EXPECT_EQ(ReadingFile(text).Refusal().first, at) << text;
  }
  EXPECT_NE(ReadingFile(cases[0].first).Refusal().second.find("\"granularity\""),
            std::string::npos);
}

}  // namespace
}  // namespace platen
