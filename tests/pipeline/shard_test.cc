// Runs of shards into one folder: the same as one run, whatever their number, order and fate.
#include "pipeline/shard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>

#include "model/support/error.h"
#include "tests/support/child_process.h"
#include "tests/support/fake_pages.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using testing::EndChild;
using testing::FakeRun;
using testing::kNever;
using testing::Outputs;
using testing::StartChild;
using testing::TempFolder;

// 0xd24ec4f1a98c6e5b and 0x44bc2cf5ad770999, as other implementations of XXH64 have them.
TEST(ShardTest, BelongsToXxh64OfThePath) {
  EXPECT_EQ(ShardOf("a", 4), (Shard{4, 4}));
  EXPECT_EQ(ShardOf("a", 1000), (Shard{static_cast<int>(0xd24ec4f1a98c6e5bU % 1000) + 1, 1000}));
  EXPECT_EQ(ShardOf("abc", 7), (Shard{static_cast<int>(0x44bc2cf5ad770999U % 7) + 1, 7}));
}

TEST(ShardTest, EveryDocumentBelongsToExactlyOne) {
  for (const int count : {1, 2, 3, 7, 1000}) {
    for (int i = 0; i < 300; ++i) {
      const std::string output = "in/page" + std::to_string(i) + ".tif";
      int holders = 0;
      for (int k = 1; k <= count; ++k) holders += Shard{k, count}.Holds(output);
      ASSERT_EQ(holders, 1) << output << " of " << count;
    }
  }
  EXPECT_TRUE(Shard{}.Holds("a"));
}

TEST(ShardTest, OnlyItsOwnNamesAreNames) {
  for (const Shard& shard : {Shard{1, 1}, Shard{2, 4}, Shard{100'000, 100'000}}) {
    EXPECT_EQ(ShardFromName(shard.Name()), shard);
  }
  for (const char* junk :
       {"", "2", "0-of-4", "5-of-4", "02-of-4", "+2-of-4", "2-of-4 ", "2-of-4-of-4", "1-of-100001",
        "1-of-99999999999999999999", "-1-of-4", "2-of-", "..", "1-of-0"}) {
    EXPECT_FALSE(ShardFromName(junk)) << junk;
  }
}

// Twelve documents: failed pages, blank ones, copies, one that cannot be opened.
class ShardsTest : public ::testing::Test {
 protected:
  ShardsTest() {
    const char* contents[] = {"ppp", "pb",  "pfp",    "ppp",  "!",   "pppppppp",
                              "p",   "pPp", "pppbpb", "pppp", "ppp", "bpppp"};
    for (int i = 0; i < 12; ++i) {
      folder_.Write("in/d" + std::to_string(i) + ".tif", contents[i]);
    }
  }

  // What one run makes; its pages are read once for every content.
  void RunWhole() {
    ASSERT_TRUE(Run({}));
    expected_ = Outputs(folder_ / "out");
    fs::remove_all(folder_ / "out");
  }

  pid_t Start(const Shard& shard, int delay_us = 0) {
    return StartChild([this, shard, delay_us] {
      FakeRun run(folder_);
      run.shard = shard;
      run.fake.max_delay_us = delay_us;
      run.Go();
    });
  }
  bool Run(const Shard& shard) { return EndChild(Start(shard)); }

  void RunAtOnce(int count) {
    std::vector<pid_t> children;
    for (int k = 1; k <= count; ++k) children.push_back(Start({k, count}, 300));
    for (const pid_t child : children) EXPECT_TRUE(EndChild(child));
  }

  // The number of times that each page was read, by all runs: "name page".
  std::map<std::string, int> PagesRead() {
    std::map<std::string, int> pages;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "out/.platen")) {
      if (entry.path().filename() != "ledger.jsonl") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        const auto json = nlohmann::json::parse(line, nullptr, false);
        if (json.is_discarded() || json.value("record", "") != "page") continue;
        ++pages[json["name"].get<std::string>() + " " + std::to_string(json["page"].get<int>())];
      }
    }
    return pages;
  }

  static bool FailsAlways(const std::string& page) {
    return page.ends_with("d2.tif 2") || page.ends_with("d7.tif 2");
  }

  // A run over everything finds nothing to do but what fails every time, and the same files.
  void ExpectWhole() {
    const auto before = PagesRead();
    ASSERT_TRUE(Run({}));
    auto after = PagesRead();
    for (const auto& [page, times] : before) {
      EXPECT_TRUE(FailsAlways(page) || after[page] == times) << page;
    }
    EXPECT_EQ(Outputs(folder_ / "out"), expected_);
  }

  void ExpectEveryPageReadOnce() {
    for (const auto& [page, times] : PagesRead()) EXPECT_EQ(times, 1) << page;
  }

  const TempFolder folder_;
  std::map<std::string, std::string> expected_;
};

TEST_F(ShardsTest, OneAfterTheOtherInAnyOrderTheyMakeTheBytesOfOneRun) {
  RunWhole();
  for (const int count : {1, 2, 3, 7}) {
    for (int k = count; k >= 1; --k) EXPECT_TRUE(Run({k, count}));
    EXPECT_EQ(Outputs(folder_ / "out"), expected_) << count;
    ExpectEveryPageReadOnce();
    ExpectWhole();
    fs::remove_all(folder_ / "out");
  }
}

TEST_F(ShardsTest, AtTheSameTimeTheyMakeTheBytesOfOneRun) {
  RunWhole();
  for (const int count : {2, 3, 7}) {
    RunAtOnce(count);
    EXPECT_EQ(Outputs(folder_ / "out"), expected_) << count;
    ExpectEveryPageReadOnce();
    ExpectWhole();
    fs::remove_all(folder_ / "out");
  }
}

TEST_F(ShardsTest, TheirNumberMayChangeInTheMiddle) {
  RunWhole();
  EXPECT_TRUE(Run({1, 4}));
  EXPECT_TRUE(Run({3, 4}));
  RunAtOnce(3);
  EXPECT_EQ(Outputs(folder_ / "out"), expected_);
  for (const auto& [page, times] : PagesRead()) {
    EXPECT_TRUE(FailsAlways(page) || times == 1) << page;
  }
  ExpectWhole();
}

// Its pages are not read again, but for those that were in flight.
TEST_F(ShardsTest, WhatAKilledRunHasBegunGoesOnWithAnotherNumber) {
  folder_.Write("in/long.tif", std::string(60, 'p'));
  RunWhole();
  const Shard shard = ShardOf("in/long.tif", 4);
  const std::string parts = folder_ / "out/.platen/shards/" + shard.Name() + "/parts";
  for (const Shard& next : {ShardOf("in/long.tif", 3), shard, Shard{}}) {
    // The child ends like a killed process, in the middle of the long document.
    EXPECT_FALSE(EndChild(StartChild([&] {
      FakeRun run(folder_);
      run.shard = shard;
      int pages = 0;
      run.sink_observers.page = [&](const InputDocument& input, const PageResult&, int) {
        if (input.output == "in/long.tif" && ++pages == 40) ::kill(::getpid(), SIGKILL);
      };
      run.Go();
    })));
    EXPECT_FALSE(fs::is_empty(parts));
    EXPECT_TRUE(Run(next));
    EXPECT_TRUE(fs::is_empty(parts));
    int again = 0;
    for (const auto& [page, times] : PagesRead()) {
      again += page.find("long") != std::string::npos && times > 1;
    }
    EXPECT_LE(again, 1) << next.Name() << ": pages that were stored are read again";
    ExpectWhole();
    fs::remove_all(folder_ / "out");
  }
}

TEST_F(ShardsTest, AfterKillNineAtAnyMomentTheyEndWithTheSameFiles) {
  const char* long_run = std::getenv("PLATEN_LONG_TESTS");
  const int rounds = long_run != nullptr && *long_run == '1' ? 100 : 3;
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  RunWhole();
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 6; ++i) {
      const int count = 1 + static_cast<int>(random() % 4);
      const Shard shard = {1 + static_cast<int>(random() % static_cast<uint64_t>(count)), count};
      const pid_t killed = Start(shard, 400);
      EndChild(killed, std::chrono::microseconds(random() % 100'000));
    }
    RunAtOnce(3);
    EXPECT_EQ(Outputs(folder_ / "out"), expected_);
    ExpectWhole();
    EXPECT_TRUE(fs::is_empty(folder_ / "out/.platen/tmp"));
    for (const auto& shard : fs::directory_iterator(folder_ / "out/.platen/shards")) {
      for (const char* name : {"parts", "tmp"}) {  // not there yet when it was killed, or empty
        EXPECT_TRUE(!fs::exists(shard.path() / name) || fs::is_empty(shard.path() / name)) << shard;
      }
    }
    fs::remove_all(folder_ / "out");
  }
}

TEST_F(ShardsTest, WhatTheLaterRunWroteCountsWhereverItStands) {
  // 1-of-2 and 1-of-1 hold d0; the folder of the earlier run is read last.
  const Shard one = ShardOf("in/d0.tif", 9), other = ShardOf("in/d0.tif", 2);
  folder_.Write("in/d0.tif", "f");
  EXPECT_TRUE(Run(one));
  folder_.Write("in/d0.tif", "p");
  EXPECT_TRUE(Run(other));
  const Ledger ledger(folder_ / "out", {{"fingerprint"}, {"fingerprint"}, {"txt", "json"}});
  ASSERT_NE(ledger.Find("in/d0.tif"), nullptr);
  EXPECT_EQ(ledger.Find("in/d0.tif")->failed, 0);
  EXPECT_EQ(ledger.Find("in/d0.tif")->run, 2);
}

TEST_F(ShardsTest, ReportsLieInTheFolderOfTheShard) {
  const Shard shard = ShardOf("in/d4.tif", 3);  // cannot be opened
  EXPECT_TRUE(Run(shard));
  EXPECT_FALSE(fs::exists(folder_ / "out/failures.jsonl"));
  const std::string failures =
      testing::ReadFile(folder_ / "out/.platen/shards/" + shard.Name() + "/failures.jsonl");
  EXPECT_NE(failures.find("d4.tif"), std::string::npos);
}

std::string Refusal(const std::string& out, const Shard& shard) {
  try {
    const Ledger ledger(out, {{"f"}, {"f"}, {"txt"}}, shard);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kEnvironment);
    return e.what();
  }
}

TEST(RunLockTest, RunsThatMayShareDocumentsAreRefused) {
  const TempFolder folder;
  const std::string out = folder / "out";
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  {
    const Ledger whole(out, {{"f"}, {"f"}, {"txt"}});
    EXPECT_TRUE(contains(Refusal(out, {}), "another platen run is writing to this folder"));
    EXPECT_TRUE(contains(Refusal(out, {1, 4}), "a run without --shard is writing"));
  }
  {
    const Ledger first(out, {{"f"}, {"f"}, {"txt"}}, {1, 4});
    EXPECT_TRUE(contains(Refusal(out, {}), "runs with --shard are writing"));
    EXPECT_TRUE(contains(Refusal(out, {1, 4}), "another run of shard 1 of 4 is writing"));
    EXPECT_TRUE(contains(Refusal(out, {1, 3}), "shard 1 of 4 is running"));
    EXPECT_EQ(Refusal(out, {2, 4}), "");
  }
  EXPECT_EQ(Refusal(out, {1, 3}), "");
  EXPECT_EQ(Refusal(out, {}), "");
}

// Whoever asks for the state of a run holds its lock for a moment: no reason not to start.
TEST(RunLockTest, AskingDoesNotDisturb) {
  const TempFolder folder;
  const Folder root = Folder::Open(folder.path(), Folder::Missing::kFail);
  EXPECT_FALSE(IsLocked(root));
  UniqueFd asking = root.OpenFile("lock", O_RDWR | O_CREAT);
  ASSERT_EQ(::flock(asking.get(), LOCK_SH), 0);
  std::thread answered([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    asking = UniqueFd();
  });
  std::optional<RunLock> lock;
  EXPECT_NO_THROW(lock.emplace(root, root, Shard{}));
  answered.join();
  EXPECT_TRUE(IsLocked(root));
}

class HostileShardsTest : public ShardsTest {
 protected:
  HostileShardsTest() { fs::create_directories(folder_ / "out/.platen/shards"); }
  std::string Shards(const std::string& name) { return folder_ / "out/.platen/shards/" + name; }

  // Nothing below the folder that a link leads to has changed.
  void ExpectElsewhereUntouched() {
    EXPECT_EQ(testing::ReadFile(folder_ / "elsewhere/parts/" + std::string(32, 'a')), "theirs");
    EXPECT_EQ(testing::ReadFile(folder_ / "elsewhere/tmp/t"), "theirs");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "elsewhere"), {}), 2);
  }
  void MakeElsewhere() {
    folder_.Write("elsewhere/parts/" + std::string(32, 'a'), "theirs");
    folder_.Write("elsewhere/tmp/t", "theirs");
  }
};

TEST_F(HostileShardsTest, JunkIsIgnored) {
  RunWhole();
  folder_.Write("out/.platen/shards/notes.txt", "x");
  folder_.Write("out/.platen/shards/1-of-2x/ledger.jsonl", "x");
  folder_.Write("out/.platen/shards/1-of-9/ledger.jsonl",
                "junk\n{\"record\":\"run\",\"run\":-1}\n{\"record\":\"run\",\"run\":1e99}\n"
                "{\"record\":\"run\",\"run\":18446744073709551615}\n[[[[\n");
  folder_.Write("out/.platen/shards/1-of-9/parts/junk", "x");
  folder_.Write("out/.platen/shards/1-of-9/parts/" + std::string(32, 'b'), "no pages");
  fs::create_symlink("..", Shards("link"));
  EXPECT_TRUE(Run({1, 2}));
  EXPECT_TRUE(Run({2, 2}));
  EXPECT_EQ(Outputs(folder_ / "out"), expected_);
  ExpectWhole();
  EXPECT_TRUE(fs::exists(Shards("1-of-9/parts/junk")));
}

TEST_F(HostileShardsTest, LinksAreNotFollowed) {
  MakeElsewhere();
  fs::create_symlink(folder_ / "elsewhere", Shards("1-of-9"));
  for (const Shard& shard : {Shard{}, Shard{1, 2}, Shard{1, 9}}) EXPECT_FALSE(Run(shard));
  fs::remove(Shards("1-of-9"));
  fs::create_directories(Shards("1-of-9"));
  for (const char* name : {"parts", "tmp", "ledger.jsonl", "lock"}) {
    fs::create_symlink(folder_ / "elsewhere", Shards("1-of-9/") + name);
    EXPECT_FALSE(Run({1, 2})) << name;
    fs::remove(Shards("1-of-9/") + name);
  }
  fs::remove_all(Shards(""));
  fs::create_symlink(folder_ / "elsewhere", folder_ / "out/.platen/shards");
  for (const Shard& shard : {Shard{}, Shard{1, 2}}) EXPECT_FALSE(Run(shard));
  ExpectElsewhereUntouched();
}

TEST_F(HostileShardsTest, APipeIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(Shards("1-of-9").c_str(), 0600), 0);
  EXPECT_FALSE(Run({}));
  EXPECT_FALSE(Run({1, 2}));
  fs::remove(Shards("1-of-9"));
  fs::create_directories(Shards("1-of-9"));
  ASSERT_EQ(::mkfifo(Shards("1-of-9/ledger.jsonl").c_str(), 0600), 0);
  EXPECT_FALSE(Run({}));
  EXPECT_FALSE(Run({1, 9}));
}

TEST_F(HostileShardsTest, ALedgerLargerThanAnyIsRefused) {
  folder_.Write("out/.platen/shards/1-of-9/ledger.jsonl", "");
  fs::resize_file(Shards("1-of-9/ledger.jsonl"), uintmax_t{1} << 40);  // sparse
  EXPECT_NE(Refusal(folder_ / "out", {}).find("is larger than any file"), std::string::npos);
  EXPECT_NE(Refusal(folder_ / "out", {1, 2}).find("is larger than any file"), std::string::npos);
}

}  // namespace
}  // namespace platen
