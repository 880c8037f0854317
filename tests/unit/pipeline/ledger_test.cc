// What is kept between runs, and what a crash may do to it.
#include "pipeline/ledger.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "model/support/error.h"
#include "tests/support/fake_pages.h"

namespace platen {
namespace {

using testing::FakeRun;
using testing::Outputs;
using testing::ReadFile;
using testing::TempFolder;

PageResult MakePage(int number, const std::string& text) {
  PageResult page;
  page.page = number;
  RegionResult region;
  region.text = text;
  page.regions.push_back(region);
  return page;
}

TEST(PageFileTest, KeepsTheLastResultOfEveryPage) {
  const TempFolder folder;
  {
    PageFile file(folder / "pages");
    EXPECT_FALSE(std::filesystem::exists(folder / "pages"));
    PageResult failed = MakePage(2, "");
    failed.error = "cannot be decoded";
    file.Append(failed);
    file.Append(MakePage(1, "one"));
    EXPECT_FALSE(file.HasComplete(2));
    file.Append(MakePage(2, "two"));
    EXPECT_TRUE(file.HasComplete(2));
  }
  PageFile file(folder / "pages");
  EXPECT_EQ(file.Read(1).regions.at(0).text, "one");
  EXPECT_EQ(file.Read(2).regions.at(0).text, "two");
  EXPECT_FALSE(file.Has(3));
  file.Remove();
  EXPECT_FALSE(std::filesystem::exists(folder / "pages"));
}

TEST(PageFileTest, CutShortAnywhereItKeepsTheWholeLinesBeforeTheCut) {
  const TempFolder folder;
  {
    PageFile file(folder / "pages");
    for (int i = 1; i <= 3; ++i) file.Append(MakePage(i, "text of page " + std::to_string(i)));
  }
  const std::string whole = ReadFile(folder / "pages");
  std::vector<size_t> ends;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] == '\n') ends.push_back(i + 1);
  }
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    folder.Write("pages", whole.substr(0, cut));
    PageFile file(folder / "pages");
    for (int page = 1; page <= 3; ++page) {
      EXPECT_EQ(file.Has(page), cut >= ends[static_cast<size_t>(page - 1)]) << cut;
    }
    file.Append(MakePage(9, "after the crash"));
    EXPECT_EQ(PageFile(folder / "pages").Read(9).regions.at(0).text, "after the crash");
  }
}

TEST(PageFileTest, ADamagedLineEndsTheFile) {
  const TempFolder folder;
  {
    PageFile file(folder / "pages");
    for (int i = 1; i <= 2; ++i) file.Append(MakePage(i, "text"));
  }
  std::string bytes = ReadFile(folder / "pages");
  bytes[bytes.size() - 10] ^= 1;
  folder.Write("pages", bytes);
  PageFile file(folder / "pages");
  EXPECT_TRUE(file.Has(1));
  EXPECT_FALSE(file.Has(2));
}

TEST(LedgerTest, OneFolderBelongsToOneRunAtATime) {
  const TempFolder folder;
  const Ledger first(folder / "out", {"f", {"txt"}});
  EXPECT_THROW(Ledger(folder / "out", {"f", {"txt"}}), Error);
}

TEST(LedgerTest, AFileInPlaceOfTheOutputFolderIsTheEnvironmentsFault) {
  const TempFolder folder;
  folder.Write("out", "");
  try {
    const Ledger ledger(folder / "out", {"f", {"txt"}});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kEnvironment);
  }
}

TEST(LedgerTest, ARecordCutShortIsIgnoredAndTheNextStandsOnItsOwnLine) {
  const TempFolder folder;
  const InputDocument input{folder.Write("a.tif", "x"), "a.tif", ""};
  folder.Write("out/a.tif.txt", "12345");
  std::string key;
  {
    Ledger ledger(folder / "out", {"f", {"txt"}});
    key = ledger.KeyOf(input);
    ledger.RecordDocument(key, input, 1, 0, {{folder / "out/a.tif.txt", 5}});
  }
  const std::string whole = ReadFile(folder / "out/.platen/ledger.jsonl");
  for (const size_t cut : {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 2}) {
    folder.Write("out/.platen/ledger.jsonl", whole.substr(0, cut));
    {
      Ledger ledger(folder / "out", {"f", {"txt"}});
      EXPECT_FALSE(ledger.IsFinished(key, input)) << cut;
      ledger.RecordDocument(key, input, 1, 0, {{folder / "out/a.tif.txt", 5}});
    }
    EXPECT_TRUE(Ledger(folder / "out", {"f", {"txt"}}).IsFinished(key, input)) << cut;
  }
}

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
  EXPECT_EQ(run.Go().totals.pages_done, 6);
  const auto first = Outputs(folder_ / "out");
  const RunReport again = run.Go();
  EXPECT_EQ(again.totals.documents_skipped, 2);
  EXPECT_EQ(again.totals.pages_done, 1);
  EXPECT_EQ(again.totals.pages_resumed, 1);
  EXPECT_EQ(Outputs(folder_ / "out"), first);
}

TEST_F(ResumeTest, ForceReadsEverythingAnew) {
  FakeRun run(folder_);
  run.Go();
  run.options.source.force = true;
  EXPECT_EQ(run.Go().totals.pages_done, 6);
}

TEST_F(ResumeTest, ChangedInputsOptionsFormatsOrOutputsAreReadAgain) {
  FakeRun run(folder_);
  run.Go();
  folder_.Write("in/c.tif", "pp");
  EXPECT_EQ(run.Go().totals.documents_done, 2);  // c and the failed b
  std::filesystem::remove(folder_ / "out/in/a.tif.json");
  EXPECT_EQ(run.Go().totals.documents_done, 2);  // a and b
  folder_.Write("out/in/a.tif.txt", "shortened");
  EXPECT_EQ(run.Go().totals.documents_done, 2);
  run.options.identity.formats = {"txt", "md"};
  EXPECT_EQ(run.Go().totals.documents_done, 3);
  run.options.identity.fingerprint = "another model";
  EXPECT_EQ(run.Go().totals.documents_done, 3);
}

TEST_F(ResumeTest, NothingRemainsOfFinishedDocuments) {
  FakeRun run(folder_);
  run.Go();
  int kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "out/.platen/pages")) {
    kept += entry.is_regular_file();
  }
  EXPECT_EQ(kept, 1);  // b has a failed page
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "out/.platen/tmp"));
}

constexpr auto kNever = std::chrono::microseconds(-1);

// Runs in a child process (so that this one has no worker threads to fork away from), killed after
// a while; returns whether it came to its end.
bool RunInChild(const TempFolder& folder, uint64_t seed, std::chrono::microseconds kill_after) {
  const pid_t child = ::fork();
  if (child == 0) {
    FakeRun run(folder);
    run.fake.seed = seed;
    run.fake.max_delay_us = kill_after == kNever ? 0 : 400;
    run.Go();
    ::_exit(0);
  }
  if (kill_after != kNever) {
    std::this_thread::sleep_for(kill_after);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
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
    while (kills < 20 && !RunInChild(folder, random(),
                                      std::chrono::microseconds(random() % 150'000))) {
      ++kills;
    }
    ASSERT_TRUE(RunInChild(folder, 1, kNever));
    EXPECT_EQ(Outputs(folder / "out"), expected) << "after " << kills << " kills";
    // A kill repeats no page that was recorded, but for a document whose record was not written yet.
    EXPECT_GE(PagesRecorded(folder), pages);
    EXPECT_LE(PagesRecorded(folder), pages + kills * FakeRun(folder).options.slots);
    EXPECT_TRUE(std::filesystem::is_empty(folder / "out/.platen/tmp"));
  }
}

}  // namespace
}  // namespace platen
