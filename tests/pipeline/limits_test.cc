// What bounds a run: limits of time and of pages. What they stop is tried again, and then the bytes
// are those of a run that nothing has stopped.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stages/inputs/discover.h"
#include "tests/support/fake_pages.h"

namespace platen {
namespace {

using testing::FakeRecognizer;
using testing::FakeRun;
using testing::Outputs;
using testing::ReadFile;
using testing::TempFolder;

class LimitsTest : public ::testing::Test {
 protected:
  // Every output of a run that nothing stops.
  std::map<std::string, std::string> Undisturbed() {
    FakeRun run(folder_);
    run.output_dir = folder_ / "whole";
    run.Go();
    return Outputs(folder_ / "whole");
  }

  const TempFolder folder_;
};

TEST_F(LimitsTest, APageWhoseDecodingNeverEndsIsGivenUp) {
  folder_.Write("in/a.tif", "H");
  folder_.Write("in/b.tif", "p");
  FakeRun run(folder_);
  run.options.source.limits.page_s = 0.05;
  run.fake.hangs = true;
  FakeRecognizer recognizer(run.fake);
  const RunReport report = run.Go(recognizer);
  ASSERT_GE(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].error.code, FailureCode::kTimeout);
  EXPECT_EQ(report.failures[0].error.text, "the page took longer than 0.05 s");
  EXPECT_EQ(report.failures[0].page, 1);
  EXPECT_GE(report.failure_counts.at(FailureCode::kTimeout), 1);
  EXPECT_EQ(ReadFile(folder_ / "out/in/a.tif.txt").find("text"), std::string::npos);
  EXPECT_EQ(recognizer.blocks_used(), 0);
  EXPECT_EQ(recognizer.live(), 0U);

  FakeRun again(folder_);
  EXPECT_EQ(again.Go().totals.pages_failed, 0);
  EXPECT_EQ(Outputs(folder_ / "out"), Undisturbed());
}

// Of a page that is cut off nothing is kept, not even the text of its first try.
TEST_F(LimitsTest, ASecondTryThatIsCutOffLeavesNoText) {
  folder_.Write("in/a.tif", "h");
  FakeRun run(folder_);
  run.options.source.limits.page_s = 0.05;
  run.fake.hangs = true;
  EXPECT_EQ(run.Go().totals.pages_failed, 1);
  EXPECT_EQ(ReadFile(folder_ / "out/in/a.tif.txt").find("text"), std::string::npos);
  FakeRun again(folder_);
  EXPECT_EQ(again.Go().totals.pages_failed, 0);
  EXPECT_EQ(Outputs(folder_ / "out"), Undisturbed());
}

TEST_F(LimitsTest, PagesOfADocumentThatHasHadItsTimeFail) {
  folder_.Write("in/a.tif", "ppp");
  FakeRun run(folder_);
  run.options.source.limits.document_s = 1e-9;
  const RunReport report = run.Go();
  EXPECT_EQ(report.totals.pages_failed, 3);
  EXPECT_EQ(report.failure_counts, (std::map<FailureCode, int64_t>{{FailureCode::kTimeout, 3}}));
  EXPECT_EQ(report.failures[2].error.text.find("the document took longer than "), 0U);
  FakeRun again(folder_);
  EXPECT_EQ(again.Go().totals.pages_read, 3);
  EXPECT_EQ(Outputs(folder_ / "out"), Undisturbed());
}

TEST_F(LimitsTest, ARunReadsNoMorePagesThanItMay) {
  folder_.Write("in/a.tif", "ppp");
  folder_.Write("in/b.tif", "pfp");
  folder_.Write("in/c.tif", "pp");
  int64_t read = 0;
  bool reached = true;
  for (int runs = 0; reached; ++runs) {
    ASSERT_LT(runs, 4);
    FakeRun run(folder_);
    run.options.source.max_pages = 4;
    const RunReport report = run.Go();
    EXPECT_LE(report.totals.pages_handled(), 4);
    EXPECT_FALSE(report.interrupted);
    read += report.totals.pages_read;
    reached = report.reached_max_pages;
  }
  EXPECT_EQ(read, 7);
  EXPECT_EQ(Outputs(folder_ / "out"), Undisturbed());
}

TEST_F(LimitsTest, AsManyPagesAsThereAreReachNoLimit) {
  folder_.Write("in/a.tif", "ppp");
  FakeRun run(folder_);
  run.options.source.max_pages = 3;
  const RunReport report = run.Go();
  EXPECT_EQ(report.totals.documents_read, 1);
  EXPECT_FALSE(report.reached_max_pages);
}

// failures.jsonl names each failure by its code, and is a list of what to read again.
TEST_F(LimitsTest, FailuresAreAListOfInputs) {
  folder_.Write("in/a.tif", "pff");
  folder_.Write("in/b\xE9.tif", "!");
  FakeRun run(folder_);
  run.Go();
  const std::string text = ReadFile(folder_ / "out/failures.jsonl");
  std::vector<std::string> codes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    codes.push_back(nlohmann::json::parse(line)["code"]);
  }
  EXPECT_EQ(codes, (std::vector<std::string>(3, "decode_error")));
  EXPECT_EQ(ParseNameList(text),
            (std::vector<ListedInput>{{folder_ / "in/a.tif", "in/a.tif"},
                                      {folder_ / "in/b\xE9.tif", "in/b\xE9.tif"}}));
}

}  // namespace
}  // namespace platen
