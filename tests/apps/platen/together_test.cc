// Runs and other commands on one folder at the same time.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

using testing::Contains;
using testing::Outputs;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;

class TogetherTest : public testing::OcrFixture {
 protected:
  TogetherTest() {
    for (int i = 0; i < 8; ++i) {
      const std::string name = "in/" + std::to_string(i) + ".tif";
      CopySample("pages/phototest.tif", name);
      std::ofstream(folder_ / name, std::ios::app) << i;  // each is another file
    }
    folder_.Write("in/broken.png", "no image");
    EXPECT_EQ(Ocr({"in", "-o", "whole"}).exit_code, 1);
  }

  ProgramResult Run(std::vector<std::string> words) {
    return RunProgram(ProgramRun{std::move(words), "", {}, folder_.path(), {}});
  }

  // A run of `words` that is held at its first page while `meanwhile` goes on.
  ProgramResult Held(std::vector<std::string> words, const std::string& state,
                     const std::function<void()>& meanwhile) {
    bool held = false;
    ProgramResult result =
        RunProgram(ProgramRun{std::move(words), "", {}, folder_.path(), [&](int pid) {
                                const std::string ledger = "out/.platen/" + state + "ledger.jsonl";
                                if (held || !Exists(ledger)) return;
                                if (!Contains(ReadFile(folder_ / ledger), "\"record\":\"page\""))
                                  return;
                                held = true;
                                ::kill(pid, SIGSTOP);
                                meanwhile();
                                ::kill(pid, SIGCONT);
                              }});
    EXPECT_TRUE(held);
    return result;
  }

  void IsRefused(const std::vector<std::string>& words, const std::string& reason) {
    const ProgramResult result = Run(words);
    EXPECT_EQ(result.exit_code, 3) << words[0];
    EXPECT_TRUE(Contains(result.err, reason)) << result.err;
  }
};

TEST_F(TogetherTest, ASecondRunIsRefusedAndTheFirstGoesOn) {
  const std::string another = "out/.platen: another platen run is writing to this folder";
  const ProgramResult first =
      Held({"ocr", "in", "-o", "out", "--threads", "1", "--slots", "1"}, "", [&] {
        IsRefused({"ocr", "in", "-o", "out"}, another);
        IsRefused({"ocr", "in", "-o", "out", "--force"}, another);
        IsRefused({"ocr", "in", "-o", "out", "--shard", "1/2"},
                  "out/.platen: a run without --shard is writing to this folder");
        IsRefused({"export", "out", "--format", "hocr"}, another);
        IsRefused({"clean", "out"}, another);
        EXPECT_EQ(Run({"status", "out"}).exit_code, 130);
        EXPECT_EQ(Run({"report", "out"}).exit_code, 0);
        EXPECT_EQ(Run({"ocr", "in", "-o", "out", "--dry-run"}).exit_code, 0);
      });
  EXPECT_EQ(first.exit_code, 1) << first.err;
  EXPECT_EQ(Report()["totals"]["pages_read"], 8);
  auto outputs = Outputs(folder_ / "out");
  EXPECT_EQ(outputs.erase("report.html"), 1U);
  EXPECT_EQ(outputs, Outputs(folder_ / "whole"));
}

TEST_F(TogetherTest, OfShardsOnlyOthersOfTheSameCountRun) {
  const auto shard = [](const std::string& which) {
    return std::vector<std::string>{"ocr", "in", "-o", "out", "--shard", which};
  };
  std::vector<std::string> words = shard("1/2");
  words.insert(words.end(), {"--threads", "1", "--slots", "1"});
  const ProgramResult first = Held(words, "shards/1-of-2/", [&] {
    IsRefused(shard("1/2"), "out/.platen/shards/1-of-2: another run of shard 1 of 2 is writing");
    IsRefused(shard("1/3"), "out/.platen: shard 1 of 2 is running");
    IsRefused({"ocr", "in", "-o", "out"}, "out/.platen: runs with --shard are writing");
    IsRefused({"export", "out", "--format", "hocr"}, "out/.platen: runs with --shard are writing");
    IsRefused({"clean", "out"}, "out/.platen: runs with --shard are writing");
    EXPECT_EQ(Run({"status", "out"}).exit_code, 130);
    EXPECT_EQ(Run({"report", "out"}).exit_code, 0);
    EXPECT_LE(Run(shard("2/2")).exit_code, 1);
  });
  EXPECT_LE(first.exit_code, 1) << first.err;
  auto outputs = Outputs(folder_ / "out");
  outputs.erase("report.html");
  EXPECT_EQ(outputs, Outputs(folder_ / "whole"));
}

// Whoever comes first: commands that write end with 0 or 1 or are refused, those that look always
// end well.
TEST_F(TogetherTest, CommandsThatComeAndGoWhileShardsRunChangeNoOutput) {
  std::atomic<int> running = 3;
  std::vector<std::thread> threads;
  std::vector<int> codes(3, -1);
  for (size_t k = 0; k < 3; ++k) {
    threads.emplace_back([&, k] {
      const std::string shard = std::to_string(k + 1) + "/3";
      codes[k] = Ocr({"in", "-o", "out", "--threads", "1", "--shard", shard}).exit_code;
      --running;
    });
  }
  const auto all_begun = [&] {
    return Exists("out/.platen/shards/1-of-3/ledger.jsonl") &&
           Exists("out/.platen/shards/2-of-3/ledger.jsonl") &&
           Exists("out/.platen/shards/3-of-3/ledger.jsonl");
  };
  while (!all_begun() && running > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::vector<std::pair<std::vector<std::string>, std::set<int>>> commands = {
      {{"status", "out"}, {1, 130}},
      {{"report", "out"}, {0}},
      {{"export", "out", "--format", "hocr"}, {1, 3}},
      {{"clean", "out", "--superseded"}, {0, 3}}};
  for (const auto& command : commands) {
    threads.emplace_back([&, command] {
      do {
        const ProgramResult result = Run(command.first);
        EXPECT_TRUE(command.second.contains(result.exit_code))
            << command.first[0] << " " << result.exit_code << " " << result.err;
      } while (running > 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::sort(codes.begin(), codes.end());
  EXPECT_EQ(codes, (std::vector<int>{0, 0, 1})) << "one has the broken file";

  EXPECT_EQ(Run({"ocr", "in", "-o", "out"}).exit_code, 1);
  EXPECT_EQ(Report()["totals"]["pages_read"], 0);
  EXPECT_EQ(Run({"export", "out", "--format", "hocr"}).exit_code, 1);
  EXPECT_EQ(Run({"export", "whole", "--format", "hocr"}).exit_code, 1);
  auto outputs = Outputs(folder_ / "out");
  EXPECT_EQ(outputs.erase("report.html"), 1U);
  EXPECT_EQ(outputs, Outputs(folder_ / "whole"));
}

}  // namespace
}  // namespace platen
