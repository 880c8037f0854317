// Options that say how outputs show what was read.
#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

using testing::Contains;
using testing::ReadFile;

class Rendering : public testing::OcrFixture {
 protected:
  void SetUp() override { CopySample("pages/in_russian_trenches_p27.png", "p.png"); }

  // The output after a run with these options into the same folder.
  std::string After(std::vector<std::string> options, const std::string& extension) {
    options.insert(options.begin(), {"p.png", "-o", "out"});
    EXPECT_EQ(Ocr(options).exit_code, 0);
    return ReadFile(folder_ / "out/p.png" + extension);
  }

  int64_t PagesRead() { return Report()["totals"]["pages_read"].get<int64_t>(); }
};

TEST_F(Rendering, RunningHeadsStandInMarkdownOnRequest) {
  const std::string usual = After({}, ".md");
  EXPECT_FALSE(Contains(usual, "IN RUSSIAN TRENCHES")) << usual;
  EXPECT_EQ(PagesRead(), 1);
  const std::string json = ReadFile(folder_ / "out/p.png.json");
  const std::string kept = After({"--keep", "headers,footnotes"}, ".md");
  EXPECT_TRUE(Contains(kept, "IN RUSSIAN TRENCHES")) << kept;
  EXPECT_EQ(PagesRead(), 0) << "outputs that look otherwise are made from what was read";
  EXPECT_EQ(ReadFile(folder_ / "out/p.png.json"), json) << "what was read is the same";
  EXPECT_EQ(After({"--keep", "headers,footnotes"}, ".md"), kept);
  EXPECT_EQ(Report()["totals"]["documents_finished_before"], 1);
  EXPECT_EQ(After({}, ".md"), usual);
}

TEST_F(Rendering, NoneStandsAlone) {
  const auto refused = Ocr({"p.png", "-o", "out", "--keep", "none,headers"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Contains(refused.err, "--keep")) << refused.err;
  EXPECT_FALSE(Exists("out"));
}

TEST_F(Rendering, ReflowJoinsParagraphsInText) {
  const std::string lines = After({}, ".txt"), reflowed = After({"--reflow"}, ".txt");
  const auto count = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_GT(count(lines), count(reflowed) + 8);
}

}  // namespace
}  // namespace platen
