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
  EXPECT_EQ(reading.granularity, Granularity::kBlock);
  EXPECT_EQ(reading.line_height, 0);
  EXPECT_EQ(reading.prompts.at("text"), "Text Recognition:");
  EXPECT_EQ(reading.prompts.at("table"), "Table Recognition:");
  EXPECT_EQ(reading.prompts.at("formula"), "Formula Recognition:");
  EXPECT_EQ(reading.doubtful_below, 0.9);
}

TEST(ReadingConfig, ReadsEveryKey) {
  const ReadingConfig reading =
      ReadingFile(R"({"granularity": "line", "line_height": 32, "x_height": 12.5,
                               "baseline": 24, "max_width": 640, "prompts": {"table": "T:"},
                               "scripts": ["Latin", "Greek"], "doubtful_below": 0.85,
                               "tasks": ["text"]})")
          .Read();
  EXPECT_TRUE(reading.present);
  EXPECT_EQ(reading.granularity, Granularity::kLine);
  EXPECT_EQ(reading.line_height, 32);
  EXPECT_EQ(reading.x_height, 12.5);
  EXPECT_EQ(reading.baseline, 24.0);
  EXPECT_EQ(reading.max_width, 640);
  EXPECT_EQ(reading.prompts.at("table"), "T:");
  EXPECT_EQ(reading.prompts.at("text"), "Text Recognition:");
  EXPECT_EQ(reading.scripts, (std::vector<std::string>{"Latin", "Greek"}));
  EXPECT_EQ(reading.doubtful_below, 0.85);
  EXPECT_EQ(reading.tasks, std::vector<std::string>{"text"});
}

TEST(ReadingConfig, KindsAreReadByTheTasksTheModelWasTrainedOn) {
  const ReadingConfig all = ReadingFile().Read();
  EXPECT_EQ(all.Of(RegionKind::kHeading).prompt, "Text Recognition:");
  EXPECT_EQ(all.Of(RegionKind::kHeading).granularity, std::nullopt);
  EXPECT_EQ(all.Of(RegionKind::kTable).prompt, "Table Recognition:");
  EXPECT_EQ(all.Of(RegionKind::kTable).granularity, Granularity::kBlock);
  EXPECT_EQ(all.Of(RegionKind::kTable).syntax, TextSyntax::kHtml);
  EXPECT_EQ(all.Of(RegionKind::kFormula).syntax, TextSyntax::kLatex);
  EXPECT_FALSE(all.Of(RegionKind::kFigure).read);
  const ReadingConfig text = ReadingFile(R"({"granularity": "line", "tasks": ["text"]})").Read();
  EXPECT_EQ(text.Of(RegionKind::kTable).prompt, "Text Recognition:");
  EXPECT_EQ(text.Of(RegionKind::kTable).granularity, std::nullopt);
  EXPECT_EQ(text.Of(RegionKind::kTable).syntax, TextSyntax::kPlain);
}

TEST(ReadingConfig, AKindMayBeReadInItsOwnWay) {
  const ReadingConfig reading =
      ReadingFile(R"({"kinds": {"code": {"prompt": "Code:", "granularity": "line",
                               "max_new_tokens": 500, "syntax": "markdown"},
                               "table": {"temperature": 0.5, "top_k": 9, "top_p": 0.75,
                                         "repetition_penalty": 1.25, "min_new_tokens": 4,
                                         "draft_length": 2},
                               "chart": {"prompt": "Chart:"}, "header": {"read": false}}})")
          .Read();
  const KindReading& code = reading.Of(RegionKind::kCode);
  EXPECT_TRUE(code.stated);
  EXPECT_EQ(code.prompt, "Code:");
  EXPECT_EQ(code.granularity, Granularity::kLine);
  EXPECT_EQ(code.max_new_tokens, 500);
  EXPECT_EQ(code.syntax, TextSyntax::kMarkdown);
  const KindDecoding& table = reading.Of(RegionKind::kTable).decoding;
  EXPECT_EQ(table.temperature, 0.5F);
  EXPECT_EQ(table.top_k, 9);
  EXPECT_EQ(table.top_p, 0.75F);
  EXPECT_EQ(table.repetition_penalty, 1.25F);
  EXPECT_EQ(table.min_new_tokens, 4);
  EXPECT_EQ(table.draft_length, 2);
  EXPECT_EQ(code.decoding.repetition_penalty, 1);
  EXPECT_EQ(code.decoding.draft_length, -1);
  EXPECT_TRUE(reading.Of(RegionKind::kChart).read);
  EXPECT_FALSE(reading.Of(RegionKind::kHeader).read);
  EXPECT_FALSE(reading.Of(RegionKind::kText).stated);
}

TEST(RegionKind, NamesAreFoundAgain) {
  for (size_t i = 0; i < kNumRegionKinds; ++i) {
    const auto kind = static_cast<RegionKind>(i);
    EXPECT_FALSE(RegionKindName(kind).empty());
    EXPECT_EQ(FindRegionKind(RegionKindName(kind)), kind);
  }
  EXPECT_EQ(FindRegionKind("txt"), std::nullopt);
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
      {R"({"scripts": ["Latin"], "doubtful_below": 1.1})", "platen.json: doubtful_below"},
      {R"({"doubtful_below": 0.9})", "platen.json: doubtful_below"},
      {R"({"kinds": {"tables": {}}})", "platen.json: kinds.tables"},
      {R"({"kinds": {"table": {"limit": 3}}})", "platen.json: kinds.table.limit"},
      {R"({"kinds": {"table": {"prompt": ""}}})", "platen.json: kinds.table.prompt"},
      {R"({"kinds": {"table": {"prompt": "<|image|>"}}})", "platen.json: kinds.table.prompt"},
      {R"({"kinds": {"table": {"granularity": "page"}}})", "platen.json: kinds.table.granularity"},
      {R"({"kinds": {"table": {"max_new_tokens": 0}}})", "platen.json: kinds.table.max_new_tokens"},
      {R"({"kinds": {"table": {"syntax": "xml"}}})", "platen.json: kinds.table.syntax"},
      {R"({"kinds": {"table": {"top_p": 0}}})", "platen.json: kinds.table.top_p"},
      {R"({"kinds": {"table": {"draft_length": 9}}})", "platen.json: kinds.table.draft_length"},
      {R"({"kinds": {"figure": {"read": true}}})", "platen.json: kinds.figure.read"},
  };
  for (const auto& [text, at] : cases) {
    EXPECT_EQ(ReadingFile(text).Refusal().first, at) << text;
  }
  EXPECT_NE(ReadingFile(cases[0].first).Refusal().second.find("\"granularity\""),
            std::string::npos);
}

}  // namespace
}  // namespace platen
