// Runs that go on where others ended, in order or by kill -9.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tests/support/child_process.h"
#include "tests/support/fake_pages.h"

namespace platen {
namespace {

using testing::EndChild;
using testing::FakeRun;
using testing::kNever;
using testing::Outputs;
using testing::ReadFile;
using testing::StartChild;
using testing::TempFolder;

class ResumeTest : public ::testing::Test {
 protected:
  ResumeTest() {
    folder_.Write("in/a.tif", "ppp");
    folder_.Write("in/b.tif", "pf");
    folder_.Write("in/c.tif", "p");
  }
  TempFolder folder_;
};

TEST_F(ResumeTest, FinishedDocumentsAreSkippedAndFailedPagesTriedAgain) {
  FakeRun run(folder_);
  EXPECT_EQ(run.Go().totals.pages_handled(), 6);
  const auto first = Outputs(folder_ / "out");
  const RunReport again = run.Go();
  EXPECT_EQ(again.totals.documents_skipped, 2);
  EXPECT_EQ(again.totals.pages_handled(), 1);
  EXPECT_EQ(again.totals.pages_resumed, 1);
  EXPECT_EQ(Outputs(folder_ / "out"), first);
}

TEST_F(ResumeTest, ForceReadsEverythingAnew) {
  FakeRun run(folder_);
  run.Go();
  run.options.source.force = true;
  EXPECT_EQ(run.Go().totals.pages_handled(), 6);
}

TEST_F(ResumeTest, ChangedInputsAndRecognitionAreReadAgain) {
  FakeRun run(folder_);
  run.Go();
  folder_.Write("in/c.tif", "pp");
  EXPECT_EQ(run.Go().totals.pages_handled(), 3);  // of c, and the failed one of b
  run.identity.images.fingerprint = "another model";
  EXPECT_EQ(run.Go().totals.pages_handled(), 7);
}

TEST_F(ResumeTest, OutputsAreMadeWithoutReading) {
  FakeRun run(folder_);
  run.Go();
  std::filesystem::remove(folder_ / "in/b.tif");  // has a failed page
  auto expected = Outputs(folder_ / "out");
  const auto nothing_read = [&](int made) {
    const RunReport report = run.Go();
    EXPECT_EQ(report.totals.pages_handled(), 0);
    EXPECT_EQ(report.totals.documents_read, made);
    EXPECT_EQ(report.totals.documents_skipped, 2 - made);
  };
  std::filesystem::remove(folder_ / "out/in/a.tif.json");
  nothing_read(1);
  EXPECT_EQ(Outputs(folder_ / "out"), expected);
  folder_.Write("out/in/a.tif.txt", "shortened");
  nothing_read(1);
  EXPECT_EQ(Outputs(folder_ / "out"), expected);
  run.identity.formats = {"txt", "md"};
  nothing_read(2);
  nothing_read(0);
  run.identity.formats = {"txt", "json"};
  nothing_read(0);
  run.identity.rendering = "reflow=true";
  run.options.render.reflow = true;
  nothing_read(2);
}

TEST_F(ResumeTest, ATouchedMovedOrCopiedFileIsNotReadAgain) {
  FakeRun run(folder_);
  run.Go();
  std::filesystem::remove(folder_ / "in/b.tif");
  std::filesystem::last_write_time(folder_ / "in/a.tif",
                                   std::filesystem::file_time_type::clock::now());
  std::filesystem::create_directory(folder_ / "in/moved");
  std::filesystem::rename(folder_ / "in/c.tif", folder_ / "in/moved/d.tif");
  std::filesystem::copy_file(folder_ / "in/a.tif", folder_ / "in/copy.tif");
  const RunReport report = run.Go();
  EXPECT_EQ(report.totals.pages_handled(), 0);
  EXPECT_EQ(report.totals.documents_skipped, 1);
  EXPECT_EQ(report.totals.documents_read, 2);
  const auto outputs = Outputs(folder_ / "out");
  EXPECT_EQ(outputs.at("in/copy.tif.txt"), outputs.at("in/a.tif.txt"));
  EXPECT_EQ(outputs.at("in/moved/d.tif.txt"), outputs.at("in/c.tif.txt"));
}

TEST_F(ResumeTest, CopiesInOneRunAreReadOnce) {
  for (int i = 0; i < 20; ++i) folder_.Write("in/copy" + std::to_string(i) + ".tif", "ppp");
  FakeRun run(folder_);
  run.options.pipeline.slots = 40;  // all could be in flight at once
  const RunReport report = run.Go();
  EXPECT_EQ(report.totals.pages_handled(), 6);
  EXPECT_EQ(report.totals.documents_read, 22);
  const auto outputs = Outputs(folder_ / "out");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(outputs.at("in/copy" + std::to_string(i) + ".tif.txt"), outputs.at("in/a.tif.txt"));
  }
}

// A copy that waits for the first to be read must not wait for ever when the run is stopped.
TEST_F(ResumeTest, AnInterruptedRunWaitsForNoCopy) {
  for (int i = 0; i < 5; ++i) folder_.Write("in/copy" + std::to_string(i) + ".tif", "ppp");
  for (int pages = 0; pages < 8; ++pages) {
    FakeRun run(folder_);
    run.output_dir = folder_ / ("out" + std::to_string(pages));
    int asked = 0;
    run.interrupted = [&] { return ++asked > pages; };
    EXPECT_TRUE(run.Go().interrupted);
  }
}

TEST_F(ResumeTest, DamagedResultsAreReadAgain) {
  FakeRun run(folder_);
  run.Go();
  const auto before = Outputs(folder_ / "out");
  std::filesystem::remove(folder_ / "out/in/a.tif.json");
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder_ / "out/.platen/results")) {
    if (!entry.is_regular_file()) continue;
    std::string bytes = ReadFile(entry.path().string());
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(entry.path(), std::ios::binary) << bytes;
  }
  EXPECT_GT(run.Go().totals.pages_handled(), 1);
  EXPECT_EQ(Outputs(folder_ / "out"), before);
}

TEST_F(ResumeTest, RunsThatChooseDifferentPagesAddUp) {
  const auto whole = [&] {
    FakeRun run(folder_);
    run.output_dir = folder_ / "whole";
    run.Go();
    return Outputs(folder_ / "whole");
  }();
  FakeRun run(folder_);
  run.options.source.pages = {{2, 2}};
  EXPECT_EQ(run.Go().totals.pages_read, 1);  // of a; c has no second page, b's fails
  EXPECT_EQ(ReadFile(folder_ / "out/in/a.tif.txt").find("text 0"), std::string::npos);
  EXPECT_EQ(run.Go().totals.pages_read, 0);  // nothing new
  run.options.source.pages = {{1, 1}};
  EXPECT_EQ(run.Go().totals.pages_read, 3);
  const std::string both = ReadFile(folder_ / "out/in/a.tif.txt");
  EXPECT_NE(both.find("text 0\n"), std::string::npos);
  EXPECT_NE(both.find("text 10\n"), std::string::npos);
  run.options.source.pages = {};
  const RunReport rest = run.Go();
  EXPECT_EQ(rest.totals.pages_read, 1);  // the third of a
  EXPECT_EQ(rest.totals.pages_resumed, 3);
  EXPECT_TRUE(Outputs(folder_ / "out") == whole);
  run.options.source.pages = {{1, 1}};
  EXPECT_EQ(run.Go().totals.pages_read, 0);  // a part of what is there is there
  EXPECT_EQ(Outputs(folder_ / "out").at("in/a.tif.json"), whole.at("in/a.tif.json"));
}

TEST_F(ResumeTest, ForceReadsTheChosenPagesAnewAndKeepsTheOthers) {
  FakeRun run(folder_);
  run.options.source.pages = {{1, 2}};
  run.Go();
  const auto before = Outputs(folder_ / "out");
  run.options.source.pages = {{2, 2}};
  run.options.source.force = true;
  EXPECT_EQ(run.Go().totals.pages_handled(), 2);  // of a and b
  EXPECT_TRUE(Outputs(folder_ / "out") == before);
}

TEST_F(ResumeTest, AFailureNeverTakesThePlaceOfAnEarlierSuccess) {
  FakeRun run(folder_);
  run.Go();
  const auto before = Outputs(folder_ / "out");
  for (const char* broken : {"!", "pfpp", "ppPp"}) {  // not opened, a page fails, a region fails
    folder_.Write("in/a.tif", broken);
    EXPECT_EQ(run.Go().totals.documents_failed, 2) << broken;  // a and b
    EXPECT_TRUE(Outputs(folder_ / "out") == before) << broken;
  }
  folder_.Write("in/a.tif", "pppp");
  EXPECT_EQ(run.Go().totals.documents_read, 1);
  EXPECT_FALSE(Outputs(folder_ / "out") == before);
}

TEST_F(ResumeTest, AnIncompleteResultIsReplacedByAnother) {
  FakeRun run(folder_);
  run.Go();
  folder_.Write("in/b.tif", "ppf");
  run.Go();
  EXPECT_NE(ReadFile(folder_ / "out/in/b.tif.txt").find("text 10"), std::string::npos);
}

// A folder stands where the second output belongs; a crash after the first leaves the same.
TEST_F(ResumeTest, AnIncompleteResultOfWhichOneFileIsThereIsNoSuccess) {
  folder_.Write("in/b.tif", "ppf");
  FakeRun run(folder_);
  std::filesystem::create_directories(folder_ / "out/in/b.tif.json");
  run.Go();
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out/in/b.tif.txt"));
  std::filesystem::remove(folder_ / "out/in/b.tif.json");
  run.Go();
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out/in/b.tif.json"));
}

TEST_F(ResumeTest, EveryFailureIsInTheFile) {
  folder_.Write("in/many.tif", std::string(1200, 'f'));
  FakeRun run(folder_);
  const RunReport report = run.Go();
  EXPECT_EQ(report.failures.size(), 1000U);
  EXPECT_EQ(report.failures_not_listed, 201);  // and one of b
  std::ifstream in(folder_ / "out/failures.jsonl");
  int lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_TRUE(json["input"].is_string() && json["error"].is_string()) << line;
  }
  EXPECT_EQ(lines, 1201);
}

// Returns whether the run came to its end.
bool RunInChild(const TempFolder& folder, uint64_t seed, std::chrono::microseconds kill_after) {
  const pid_t child = StartChild([&] {
    FakeRun run(folder);
    run.fake.seed = seed;
    run.fake.max_delay_us = kill_after == kNever ? 0 : 400;
    run.Go();
  });
  return EndChild(child, kill_after);
}

// The ledger's records of finished pages.
int64_t PagesRecorded(const TempFolder& folder) {
  std::ifstream in(folder / "out/.platen/ledger.jsonl");
  int64_t pages = 0;
  for (std::string line; std::getline(in, line);) {
    pages += line.find("\"record\":\"page\"") != std::string::npos;
  }
  return pages;
}

TEST(KillTest, AfterKillNineAtAnyMomentARerunEndsWithTheSameFiles) {
  const char* long_run = std::getenv("PLATEN_LONG_TESTS");
  const int rounds = long_run != nullptr && *long_run == '1' ? 100 : 3;
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);

  const TempFolder folder;
  int64_t pages = 0;
  for (int i = 0; i < 6; ++i) {
    const std::string content(static_cast<size_t>(1 + i * 3), 'p');
    folder.Write("in/d" + std::to_string(i) + ".tif", content);
    pages += static_cast<int64_t>(content.size());
  }
  ASSERT_TRUE(RunInChild(folder, 1, kNever));
  const auto expected = Outputs(folder / "out");

  for (int round = 0; round < rounds; ++round) {
    std::filesystem::remove_all(folder / "out");
    int kills = 0;
    while (kills < 20 &&
           !RunInChild(folder, random(), std::chrono::microseconds(random() % 150'000))) {
      ++kills;
    }
    ASSERT_TRUE(RunInChild(folder, 1, kNever));
    EXPECT_EQ(Outputs(folder / "out"), expected) << "after " << kills << " kills";
    // A kill repeats no page that was recorded, but for a document whose record was not written
    // yet.
    EXPECT_GE(PagesRecorded(folder), pages);
    EXPECT_LE(PagesRecorded(folder), pages + kills * FakeRun(folder).options.pipeline.slots);
    EXPECT_TRUE(std::filesystem::is_empty(folder / "out/.platen/tmp"));
  }
}

}  // namespace
}  // namespace platen
