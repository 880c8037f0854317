// platen status: what it prints, and its exit codes.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::RunProgram;

class StatusCommandTest : public testing::OcrFixture {
 protected:
  StatusCommandTest() {
    CopySample("pages/phototest.tif", "in/a.tif");
    CopySample("pages/in_russian_trenches_p27.png", "in/c.png");
  }

  ProgramResult Status(std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"status", "out"});
    return RunProgram(ProgramRun{std::move(words), "", {}, folder_.path(), {}});
  }
};

TEST_F(StatusCommandTest, DoneIsZeroAndAFailureIsOne) {
  EXPECT_EQ(Status().exit_code, 2) << "no such folder";
  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 0);
  const ProgramResult done = Status();
  EXPECT_EQ(done.exit_code, 0) << done.out;
  EXPECT_TRUE(Contains(done.out, "2 documents with outputs, 0 with failed pages\n")) << done.out;
  EXPECT_TRUE(Contains(done.out, "core-seconds in 1 run\n")) << done.out;
  EXPECT_TRUE(Contains(done.out, "Z, done\n")) << done.out;
  folder_.Write("in/broken.png", "no image");
  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 1);
  const ProgramResult failed = Status();
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_TRUE(Contains(failed.out, "1 failure\n       1  ")) << failed.out;
  const auto json = nlohmann::json::parse(Status({"--json"}).out);
  EXPECT_EQ(json["finished"], true);
  EXPECT_EQ(json["documents_listed"], 3);
  EXPECT_EQ(json["failures"], 1);
  EXPECT_EQ(json["reasons"].size(), 1U);
  EXPECT_EQ(json["last_end"]["result"], "some pages failed");
  EXPECT_GT(json["core_hours"].get<double>(), 0);
}

TEST_F(StatusCommandTest, WorkThatIsLeftIs130) {
  EXPECT_EQ(Ocr({"in", "-o", "out", "--shard", "1/2"}).exit_code, 0);
  const ProgramResult half = Status();
  EXPECT_EQ(half.exit_code, 130);
  EXPECT_TRUE(Contains(half.out, "shards: 1 of 2 finished, 1 not begun here (2)\n")) << half.out;
  EXPECT_EQ(Ocr({"in", "-o", "out", "--shard", "2/2"}).exit_code, 0);
  EXPECT_EQ(Status().exit_code, 0);
  const auto json = nlohmann::json::parse(Status({"--json"}).out);
  EXPECT_EQ(json["shards"][1]["state"], "finished");
  EXPECT_EQ(json["documents"], 2);
}

TEST_F(StatusCommandTest, SaysThatARunIsGoingOnAndThatItWasKilled) {
  for (int i = 0; i < 30; ++i) {
    CopySample("pages/phototest.tif", "many/a" + std::to_string(i) + ".tif");
    std::ofstream(folder_ / "many/a" + std::to_string(i) + ".tif", std::ios::app) << i;
  }
  ProgramResult meanwhile;
  const ProgramResult killed = RunProgram(ProgramRun{
      {"ocr", "many", "-o", "out", "--threads", "1"}, "", {}, folder_.path(), [&](int pid) {
        if (!meanwhile.out.empty() || !Exists("out/.platen/ledger.jsonl")) return;
        const ProgramResult now = Status();
        if (!Contains(now.out, "a run is going on")) return;
        meanwhile = now;
        ::kill(pid, SIGKILL);
      }});
  ASSERT_EQ(killed.exit_code, 128 + SIGKILL);
  EXPECT_EQ(meanwhile.exit_code, 130);
  const ProgramResult after = Status();
  EXPECT_EQ(after.exit_code, 130);
  EXPECT_TRUE(Contains(after.out, "the last run stopped before its end")) << after.out;
  EXPECT_TRUE(Contains(after.out, "1 run going on or killed, of unknown cost")) << after.out;
}

TEST_F(StatusCommandTest, ChangesNothing) {
  EXPECT_EQ(Ocr({"in", "-o", "out", "--shard", "1/1"}).exit_code, 0);
  std::map<std::string, fs::file_time_type> before, after;
  for (auto* times : {&before, &after}) {
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "out")) {
      (*times)[entry.path().string()] = entry.last_write_time();
    }
    EXPECT_EQ(Status().exit_code, 0);
  }
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace platen
