// What platen status says of folders that runs and others have left.
#include "pipeline/status.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "model/support/error.h"
#include "tests/support/fake_pages.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using testing::FakeRun;
using testing::TempFolder;

RunEnd EndWith(const std::string& result, int64_t ended_s, double core_s) {
  RunEnd end;
  end.result = result;
  end.ended_s = ended_s;
  end.core_s = core_s;
  end.documents = 2;
  end.interrupted = result == "interrupted";
  return end;
}

class StatusTest : public ::testing::Test {
 protected:
  StatusTest() {
    for (int i = 0; i < 12; ++i) folder_.Write(Input(i), i == 5 ? "pfp" : "pp");
  }
  static std::string Input(int i) { return "in/d" + std::to_string(i) + ".tif"; }

  // A run that comes to its end, if `end` says how.
  void Run(const Shard& shard, const std::optional<RunEnd>& end) {
    FakeRun run(folder_);
    run.shard = shard;
    run.Go();
    if (end) Ledger(folder_ / "out", run.identity, shard).RecordEnd(*end);
  }
  FolderStatus Status() { return ReadStatus(folder_ / "out"); }
  std::vector<RunState> States() {
    std::vector<RunState> states;
    for (const RunsState& runs : Status().job) states.push_back(runs.state);
    return states;
  }

  const TempFolder folder_;
};

TEST_F(StatusTest, OfARunThatCameToItsEnd) {
  folder_.Write("in/gone.tif", "!");
  Run({}, EndWith("some pages failed", 1000, 3));
  Run({}, EndWith("some pages failed", 2000, 4));
  const FolderStatus status = Status();
  EXPECT_TRUE(status.finished());
  EXPECT_EQ(status.documents, 13);
  EXPECT_EQ(status.documents_failed, 2);
  EXPECT_EQ(status.pages, 25);
  EXPECT_EQ(status.failures, 2);
  ASSERT_EQ(status.reasons.size(), 1U);
  EXPECT_EQ(status.reasons[0].code, "decode_error");
  EXPECT_EQ(status.reasons[0].count, 2);
  EXPECT_EQ(status.runs, 2);
  EXPECT_EQ(status.runs_unended, 0);
  EXPECT_DOUBLE_EQ(status.core_s, 7);
  ASSERT_TRUE(status.last_end);
  EXPECT_EQ(status.last_end->ended_s, 2000);
}

TEST_F(StatusTest, ARunThatWasKilledOrInterruptedIsNotFinished) {
  Run({}, std::nullopt);
  EXPECT_EQ(States(), std::vector{RunState::kStopped});
  EXPECT_EQ(Status().runs_unended, 1);
  Run({}, EndWith("interrupted", 1, 1));
  EXPECT_EQ(States(), std::vector{RunState::kStopped});
  EXPECT_EQ(Status().runs_unended, 1);
  {
    Ledger ledger(folder_ / "out", {{"fingerprint"}, {"fingerprint"}, {"txt"}});
    ledger.RecordRun("v", "m");
    EXPECT_EQ(States(), std::vector{RunState::kRunning});
    ledger.RecordEnd(EndWith("done", 2, 1));
  }
  EXPECT_EQ(States(), std::vector{RunState::kFinished});
}

// Clocks may be set back between runs.
TEST_F(StatusTest, TheLastEndIsThatOfTheLatestRun) {
  Run({1, 2}, EndWith("done", 5000, 1));
  Run({2, 2}, EndWith("interrupted", 6000, 1));
  EXPECT_EQ(Status().last_end->ended_s, 6000);
  Run({}, EndWith("done", 1000, 1));
  EXPECT_EQ(Status().last_end->ended_s, 1000);
  Run({1, 3}, std::nullopt);  // goes on, or was killed
  EXPECT_EQ(Status().last_end->ended_s, 1000);
  Run({1, 3}, EndWith("done", 500, 1));
  EXPECT_EQ(Status().last_end->ended_s, 500);
}

TEST_F(StatusTest, EveryShardHasAState) {
  Run({1, 4}, EndWith("done", 1, 1));
  Run({2, 4}, EndWith("interrupted", 2, 1));
  Ledger running(folder_ / "out", {{"fingerprint"}, {"fingerprint"}, {"txt"}}, {3, 4});
  running.RecordRun("v", "m");
  EXPECT_EQ(States(), (std::vector{RunState::kFinished, RunState::kStopped, RunState::kRunning,
                                   RunState::kNoRun}));
  EXPECT_FALSE(Status().finished());
}

TEST_F(StatusTest, OnlyTheLatestJobCounts) {
  Run({1, 4}, EndWith("interrupted", 1, 1));
  for (int k = 1; k <= 3; ++k) Run({k, 3}, EndWith("done", 2, 1));
  EXPECT_EQ(States(), std::vector<RunState>(3, RunState::kFinished));
  EXPECT_EQ(Status().documents, 12);
  EXPECT_DOUBLE_EQ(Status().core_s, 4) << "that of all";
  EXPECT_EQ(Status().failures, 1);
  Run({}, EndWith("some pages failed", 3, 1));
  EXPECT_EQ(States(), std::vector{RunState::kFinished});
  EXPECT_EQ(Status().failures, 1);
}

TEST_F(StatusTest, WhatWasReadAtLastCountsWhereverItStands) {
  Run(ShardOf(Input(5), 2), EndWith("some pages failed", 1, 1));
  EXPECT_EQ(Status().documents_failed, 1);
  folder_.Write(Input(5), "pppp");
  Run({}, EndWith("done", 2, 1));
  EXPECT_EQ(Status().documents_failed, 0);
  EXPECT_EQ(Status().pages, 26);
}

TEST_F(StatusTest, ADocumentThatIsNoLongerAskedForDoesNotFail) {
  Run({}, EndWith("some pages failed", 1, 1));
  fs::remove(folder_ / Input(5));
  Run({}, EndWith("done", 2, 1));
  EXPECT_EQ(Status().documents, 12);
  EXPECT_EQ(Status().documents_failed, 0);
  Run({}, std::nullopt);
  EXPECT_EQ(Status().documents_failed, 1) << "it may be among those that are still to come";
}

TEST_F(StatusTest, FailuresAreCountedByTheirCode) {
  Run({}, EndWith("some pages failed", 1, 1));
  std::string failures = "no failure\n{\"error\":3}\n";
  for (int i = 0; i < 300; ++i) {
    failures += R"({"input":"a","page":1,"code":"too_large","error":"has )" + std::to_string(i) +
                " pixels\"}\n";
  }
  failures += R"({"input":"a","page":1,"code":"timeout","error":"the page took longer"})"
              "\n";
  failures += R"({"input":"a","page":1,"error":"of an earlier version"})"
              "\n";
  failures += R"({"input":"a","page":1,"code":"<b>","error":"of no version"})"
              "\n";
  folder_.Write("out/failures.jsonl", failures);
  const FolderStatus status = Status();
  EXPECT_EQ(status.failures, 303);
  ASSERT_EQ(status.reasons.size(), 3U);
  EXPECT_EQ(status.reasons[0].code, "too_large");
  EXPECT_EQ(status.reasons[0].example, "has 0 pixels");
  EXPECT_EQ(status.reasons[0].count, 300);
  EXPECT_EQ(status.reasons[1].code, "unknown");
  EXPECT_EQ(status.reasons[1].count, 2);
  EXPECT_EQ(status.reasons[2].code, "timeout");
}

TEST_F(StatusTest, WhatIsNoRecordSaysNothing) {
  Run({}, EndWith("done", 1, 1));
  const std::string ledger = testing::ReadFile(folder_ / "out/.platen/ledger.jsonl");
  const auto end = [](const std::string& ended_s, const std::string& core_s) {
    return R"({"record":"end","run":1,"result":"done","interrupted":false,"documents":1,)"
           R"("failures":0,"ended_s":)" +
           ended_s + ",\"core_s\":" + core_s + "}\n";
  };
  const std::string junk = "[[[[\n{\"record\":\"end\",\"run\":1}\n" + end("-5", "1") +
                           end("5", "1e300") + end("1e300", "1") + end("1.5", "1") +
                           "{\"record\":\"run\",\"run\":\"x\"}\n";
  folder_.Write("out/.platen/ledger.jsonl", junk + ledger + junk);
  EXPECT_TRUE(Status().finished());
  EXPECT_EQ(Status().runs, 1);
  EXPECT_DOUBLE_EQ(Status().core_s, 1);
}

TEST_F(StatusTest, LinksAndPipesAreRefused) {
  Run({}, EndWith("done", 1, 1));
  const std::string shard = folder_ / "out/.platen/shards/1-of-2";
  fs::create_directories(shard);
  fs::create_symlink(folder_ / "out/.platen/ledger.jsonl", shard + "/ledger.jsonl");
  EXPECT_THROW(Status(), Error);
  fs::remove(shard + "/ledger.jsonl");
  ASSERT_EQ(::mkfifo((shard + "/ledger.jsonl").c_str(), 0600), 0);
  EXPECT_THROW(Status(), Error);
  fs::remove_all(shard);
  fs::create_symlink(folder_ / "in", shard);
  EXPECT_THROW(Status(), Error);
}

}  // namespace
}  // namespace platen
