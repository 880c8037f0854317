// platen ocr --shard: several runs into one folder.
#include <gtest/gtest.h>

#include <thread>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::Outputs;
using testing::ProgramResult;

class ShardsTest : public testing::OcrFixture {
 protected:
  ShardsTest() {
    CopySample("pages/phototest.tif", "in/a.tif");
    CopySample("pages/phototest.tif", "in/b.tif");
    CopySample("pages/in_russian_trenches_p27.png", "in/c.png");
    folder_.Write("in/broken.png", "no image");
  }

  ProgramResult OcrShard(const std::string& shard, std::vector<std::string> environment = {}) {
    return Ocr({"in", "-o", "out", "--threads", "1", "--shard", shard}, "", std::move(environment));
  }
};

TEST_F(ShardsTest, AtOnceAndOneAfterTheOtherTheyMakeTheFilesOfOneRun) {
  EXPECT_EQ(Ocr({"in", "-o", "whole"}).exit_code, 1);
  const auto expected = Outputs(folder_ / "whole");
  std::vector<std::thread> runs;
  std::vector<int> codes(3, -1);
  for (size_t k = 0; k < 3; ++k) {
    runs.emplace_back([&, k] { codes[k] = OcrShard(std::to_string(k + 1) + "/3").exit_code; });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_EQ(std::count(codes.begin(), codes.end(), 1), 1) << "the one with the broken file";
  EXPECT_EQ(std::count(codes.begin(), codes.end(), 0), 2);
  EXPECT_EQ(Outputs(folder_ / "out"), expected);
  EXPECT_FALSE(Exists("out/run.json"));
  int64_t documents = 0;
  for (const char* shard : {"1-of-3", "2-of-3", "3-of-3"}) {
    documents +=
        Report(std::string("out/.platen/shards/") + shard)["totals"]["documents"].get<int>();
    EXPECT_TRUE(Exists(std::string("out/.platen/shards/") + shard + "/failures.jsonl"));
    EXPECT_EQ(Report(std::string("out/.platen/shards/") + shard)["shard"]["of"], 3);
  }
  EXPECT_EQ(documents, 4);

  const ProgramResult last = Ocr({"in", "-o", "out"});
  EXPECT_EQ(last.exit_code, 1) << "the broken file is broken still";
  EXPECT_EQ(Report()["totals"]["documents_finished_before"], 3);
  EXPECT_EQ(Report()["totals"]["pages_read"], 0);
  EXPECT_TRUE(Contains(testing::ReadFile(folder_ / "out/failures.jsonl"), "broken.png"));
  EXPECT_EQ(Outputs(folder_ / "out"), expected);
}

TEST_F(ShardsTest, AnEmptyShareIsDone) {
  fs::remove(folder_ / "in/broken.png");
  int empty = 0;
  for (int k = 1; k <= 6; ++k) {
    const ProgramResult result = OcrShard(std::to_string(k) + "/6");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    empty += Contains(result.out, "no document belongs to this shard");
  }
  EXPECT_GE(empty, 3);
  EXPECT_LE(empty, 5);
}

TEST_F(ShardsTest, WhatIsNoShardIsAWrongOption) {
  for (const char* wrong : {"5/4", "0/4", "x", "auto"}) {
    const ProgramResult result = OcrShard(wrong);
    EXPECT_EQ(result.exit_code, 2) << wrong;
    EXPECT_TRUE(Contains(result.err, "--shard")) << result.err;
  }
  EXPECT_FALSE(Exists("out"));
  const ProgramResult printed = Ocr({"in/a.tif", "--shard", "1/1"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_TRUE(Contains(printed.err, "needs an output folder")) << printed.err;
}

TEST_F(ShardsTest, AutoTakesThePartFromTheTask) {
  const ProgramResult slurm = OcrShard(
      "auto", {"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_MIN=1", "SLURM_ARRAY_TASK_COUNT=3"});
  EXPECT_TRUE(Exists("out/.platen/shards/2-of-3/run.json")) << slurm.err;
  const ProgramResult index = OcrShard("auto/3", {"JOB_COMPLETION_INDEX=2"});
  EXPECT_TRUE(Exists("out/.platen/shards/3-of-3/run.json")) << index.err;
}

TEST_F(ShardsTest, OtherFormatsComeFromWhatShardsHaveRead) {
  fs::remove(folder_ / "in/broken.png");
  for (const char* shard : {"1/2", "2/2"}) EXPECT_EQ(OcrShard(shard).exit_code, 0);
  const ProgramResult exported = testing::RunProgram(
      testing::ProgramRun{{"export", "out", "--format", "hocr"}, "", {}, folder_.path(), {}});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_TRUE(Contains(exported.out, "3 documents (3 pages) exported")) << exported.out;
}

}  // namespace
}  // namespace platen
