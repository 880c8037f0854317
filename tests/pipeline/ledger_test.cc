// What is kept between runs, and what a crash may do to it.
#include "pipeline/ledger.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "model/support/error.h"
#include "model/support/hash.h"
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

Folder Open(const TempFolder& folder) {
  return Folder::Open(folder.path(), Folder::Missing::kFail);
}

TEST(PageFileTest, KeepsTheLastResultOfEveryPage) {
  const TempFolder folder;
  const Folder open = Open(folder);
  {
    PageFile file(open, "pages");
    EXPECT_FALSE(std::filesystem::exists(folder / "pages"));
    PageResult failed = MakePage(2, "");
    failed.error = "cannot be decoded";
    file.Append(failed);
    file.Append(MakePage(1, "one"));
    EXPECT_FALSE(file.HasComplete(2));
    file.Append(MakePage(2, "two"));
    EXPECT_TRUE(file.HasComplete(2));
  }
  PageFile file(open, "pages");
  EXPECT_EQ(file.Read(1).regions.at(0).text, "one");
  EXPECT_EQ(file.Read(2).regions.at(0).text, "two");
  EXPECT_FALSE(file.Has(3));
  EXPECT_EQ(file.CompletePages(), (std::vector<int>{1, 2}));
  file.Remove();
  EXPECT_FALSE(std::filesystem::exists(folder / "pages"));
}

TEST(PageFileTest, CutShortAnywhereItKeepsTheWholeLinesBeforeTheCut) {
  const TempFolder folder;
  const Folder open = Open(folder);
  {
    PageFile file(open, "pages");
    for (int i = 1; i <= 3; ++i) file.Append(MakePage(i, "text of page " + std::to_string(i)));
  }
  const std::string whole = ReadFile(folder / "pages");
  std::vector<size_t> ends;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] == '\n') ends.push_back(i + 1);
  }
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    folder.Write("pages", whole.substr(0, cut));
    PageFile file(open, "pages");
    for (int page = 1; page <= 3; ++page) {
      EXPECT_EQ(file.Has(page), cut >= ends[static_cast<size_t>(page - 1)]) << cut;
    }
    file.Append(MakePage(9, "after the crash"));
    EXPECT_EQ(PageFile(open, "pages").Read(9).regions.at(0).text, "after the crash");
  }
}

TEST(PageFileTest, ADamagedLineEndsTheFile) {
  const TempFolder folder;
  const Folder open = Open(folder);
  {
    PageFile file(open, "pages");
    for (int i = 1; i <= 2; ++i) file.Append(MakePage(i, "text"));
  }
  std::string bytes = ReadFile(folder / "pages");
  bytes[bytes.size() - 10] ^= 1;
  folder.Write("pages", bytes);
  PageFile file(open, "pages");
  EXPECT_TRUE(file.Has(1));
  EXPECT_FALSE(file.Has(2));
}

TEST(PageFileTest, ALineThatCarriesItsChecksumAndIsNoPageEndsTheFile) {
  const TempFolder folder;
  const Folder open = Open(folder);
  { PageFile(open, "pages").Append(MakePage(1, "text")); }
  const std::string whole = ReadFile(folder / "pages");
  for (const char* json : {"{}", "[]", "null", "{\"page\":\"one\"}", "{\"page\":1e99}", "no JSON",
                           "{\"page\":2,\"width\":1,\"height\":1,\"rotation\":0}"}) {
    folder.Write("pages", whole + HashHex(json) + " " + json + "\n" + whole);
    PageFile file(open, "pages");
    EXPECT_EQ(file.CompletePages(), std::vector<int>{1}) << json;
    file.Append(MakePage(2, "next"));
    EXPECT_EQ(PageFile(open, "pages").CompletePages(), (std::vector<int>{1, 2})) << json;
  }
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

// The ledger of OUT with one finished document, read as a whole.
class RecordTest : public ::testing::Test {
 protected:
  RecordTest() : input_{folder_.Write("a.tif", "x"), "a.tif", "", "", ""} {
    folder_.Write("out/a.tif.txt", "12345");
    Ledger ledger = Make();
    key_ = ledger.KeyOf(input_);
    Record(ledger);
    whole_ = ReadFile(folder_ / "out/.platen/ledger.jsonl");
  }

  Ledger Make() { return Ledger(folder_ / "out", {"f", {"txt"}}); }
  void Record(Ledger& ledger) {
    ledger.RecordDocument(key_, input_, {1}, 1, 0, {{folder_ / "out/a.tif.txt", 5}});
  }
  void WriteLedger(const std::string& bytes) { folder_.Write("out/.platen/ledger.jsonl", bytes); }

  TempFolder folder_;
  InputDocument input_;
  std::string key_;
  std::string whole_;
};

TEST_F(RecordTest, CutShortItIsIgnoredAndTheNextStandsOnItsOwnLine) {
  for (const size_t cut : {size_t{0}, size_t{1}, whole_.size() / 2, whole_.size() - 2}) {
    WriteLedger(whole_.substr(0, cut));
    {
      Ledger ledger = Make();
      EXPECT_FALSE(ledger.IsFinished(key_, input_, {})) << cut;
      Record(ledger);
    }
    EXPECT_TRUE(Make().IsFinished(key_, input_, {})) << cut;
  }
}

TEST_F(RecordTest, LinesThatAreNoRecordsSayNothing) {
  const std::vector<std::string> lines = {
      R"({"record":1,"x":"document"})",
      R"({"record":"document"})",
      R"(["document"])",
      R"("document")",
      R"({"record":"document","key":7,"pages":1,"failed":0,"outputs":{}})",
      R"({"record":"document","key":"k","pages":-1,"failed":0,"outputs":{}})",
      R"({"record":"document","key":"k","pages":1e300,"failed":0,"outputs":{}})",
      R"({"record":"document","key":"k","pages":1,"failed":0,"outputs":{"txt":"x"}})",
      R"({"record":"document","key":"k","pages":1,"of":9999999999,"failed":0,"outputs":{}})",
      R"({"record":"document","key":"k","pages":1,"page_list":"5-1","failed":0,"outputs":{}})",
      R"({"record":"document","key":"k","pages":1,"page_list":7,"failed":0,"outputs":{}})",
      "\"document\" \xff\xfe",
      std::string(3 << 20, 'x') + "\"document\"",
      std::string(100'000, '[') + "\"document\""};
  for (const std::string& line : lines) {
    WriteLedger(line + "\n" + whole_ + line + "\n");
    const Ledger ledger = Make();
    EXPECT_TRUE(ledger.IsFinished(key_, input_, {})) << line.substr(0, 80);
    const bool too_long = line.size() > (1 << 20);  // not even looked at
    EXPECT_EQ(ledger.damaged_records(), too_long ? 0 : 2) << line.substr(0, 80);
  }
}

TEST_F(RecordTest, PagesMayBeListedInAnyOrderAndInAnyNumberOfRanges) {
  std::string many;
  for (int i = 0; i < 200'000; ++i) many += "1,";
  for (const auto& [list, has_all] : {std::pair<std::string, bool>{"500001-1000000,1-500000", true},
                                      {many + "1-1000000", true},
                                      {"2-1000000," + many + "7", true},
                                      {many + "1-999999", false},
                                      {many + "2-4,6-1000000", false}}) {
    WriteLedger("{\"record\":\"document\",\"key\":\"" + key_ +
                "\",\"pages\":1000000,\"page_list\":\"" + list +
                "\",\"of\":1000000,\"failed\":0,\"outputs\":{\"txt\":5}}\n");
    EXPECT_EQ(Make().IsFinished(key_, input_, {}), has_all) << list.substr(list.size() - 20);
  }
}

TEST_F(RecordTest, RecordsOfVersionOneStandForWholeDocuments) {
  WriteLedger("{\"record\":\"document\",\"key\":\"" + key_ +
              "\",\"name\":\"a.tif\",\"pages\":3,\"failed\":0,\"outputs\":{\"txt\":5}}\n");
  const Ledger ledger = Make();
  EXPECT_TRUE(ledger.IsFinished(key_, input_, {}));
  EXPECT_TRUE(ledger.IsFinished(key_, input_, {{2, 3}}));
  EXPECT_FALSE(ledger.IsFinished(key_, input_, {{4, 4}}));  // no such page: to be said again
}

TEST_F(RecordTest, NothingIsOpenedOrRemovedThroughALink) {
  namespace fs = std::filesystem;
  const TempFolder victim;
  const auto expect_refused = [&](const std::string& name) {
    try {
      Make();
      ADD_FAILURE() << name << ": no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kEnvironment) << name;
      EXPECT_NE(std::string(e.what()).find("symbolic link"), std::string::npos) << e.what();
    }
  };
  for (const std::string name : {"tmp", "pages"}) {
    victim.Write(name + "/d/a", "precious");
    victim.Write(name + "/" + key_ + ".jsonl", "precious");
    fs::remove_all(folder_ / ("out/.platen/" + name));
    fs::create_directory_symlink(victim / name, folder_ / ("out/.platen/" + name));
    expect_refused(name);
    EXPECT_EQ(ReadFile(victim / (name + "/d/a")), "precious");
    EXPECT_EQ(ReadFile(victim / (name + "/" + key_ + ".jsonl")), "precious");
    fs::remove(folder_ / ("out/.platen/" + name));
  }
  for (const std::string name : {"ledger.jsonl", "lock"}) {
    victim.Write(name, "precious");
    fs::remove(folder_ / ("out/.platen/" + name));
    fs::create_symlink(victim / name, folder_ / ("out/.platen/" + name));
    expect_refused(name);
    EXPECT_EQ(ReadFile(victim / name), "precious");
    fs::remove(folder_ / ("out/.platen/" + name));
  }
  fs::rename(folder_ / "out/.platen", victim / "state");
  fs::create_directory_symlink(victim / "state", folder_ / "out/.platen");
  expect_refused(".platen");
}

TEST_F(RecordTest, LinksInTheTemporaryFolderAreRemovedNotFollowed) {
  namespace fs = std::filesystem;
  const TempFolder victim;
  victim.Write("d/a", "precious");
  fs::create_directory_symlink(victim / "d", folder_ / "out/.platen/tmp/d");
  fs::create_symlink(victim / "d/a", folder_ / "out/.platen/tmp/a");
  folder_.Write("out/.platen/tmp/left", "over");
  Make();
  EXPECT_TRUE(fs::is_empty(folder_ / "out/.platen/tmp"));
  EXPECT_EQ(ReadFile(victim / "d/a"), "precious");
}

TEST_F(RecordTest, ANamedPipeInPlaceOfAFileIsRefusedAtOnce) {
  for (const char* name : {"ledger.jsonl", "lock"}) {
    const std::string path = folder_ / ("out/.platen/" + std::string(name));
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THROW(Make(), Error) << name;
    std::filesystem::remove(path);
  }
}

TEST_F(RecordTest, PagesLeftBehindByAKillAreSweptAtTheStart) {
  folder_.Write("out/.platen/pages/" + key_ + ".jsonl", "left behind");
  folder_.Write("out/.platen/pages/unknown.jsonl", "of a document that is not finished");
  Make();
  EXPECT_FALSE(std::filesystem::exists(folder_ / ("out/.platen/pages/" + key_ + ".jsonl")));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out/.platen/pages/unknown.jsonl"));
}

TEST_F(RecordTest, OutputsThatNothingCallsIncompleteAreASuccess) {
  EXPECT_TRUE(Make().HoldsSuccess(key_, input_));
  EXPECT_TRUE(Make().HoldsSuccess("key of another version", input_));
  WriteLedger("");
  EXPECT_TRUE(Make().HoldsSuccess(key_, input_));
  {
    Ledger ledger = Make();
    ledger.RecordDocument(key_, input_, {1, 2}, 2, 1, {{folder_ / "out/a.tif.txt", 5}});
  }
  EXPECT_FALSE(Make().HoldsSuccess(key_, input_));
  EXPECT_FALSE(Make().HoldsSuccess("key of another version", input_));
  std::filesystem::remove(folder_ / "out/a.tif.txt");
  WriteLedger(whole_);
  EXPECT_FALSE(Make().HoldsSuccess(key_, input_));
}

TEST(FormatPageRangesTest, IsTheInverseOfParsing) {
  for (const std::vector<int>& pages :
       {std::vector<int>{1}, {1, 2, 3}, {2, 4, 5, 9}, {1, 3, 5}, {7, 8}}) {
    EXPECT_EQ(SelectPages(ParsePageRanges(FormatPageRanges(pages)), 10), pages);
  }
  EXPECT_EQ(FormatPageRanges({1, 2, 3, 7}), "1-3,7");
  EXPECT_EQ(FormatPageRanges({}), "");
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

TEST_F(ResumeTest, ChangedInputsOptionsFormatsOrOutputsAreReadAgain) {
  FakeRun run(folder_);
  run.Go();
  folder_.Write("in/c.tif", "pp");
  EXPECT_EQ(run.Go().totals.documents_opened, 2);  // c and the failed b
  std::filesystem::remove(folder_ / "out/in/a.tif.json");
  EXPECT_EQ(run.Go().totals.documents_opened, 2);  // a and b
  folder_.Write("out/in/a.tif.txt", "shortened");
  EXPECT_EQ(run.Go().totals.documents_opened, 2);
  run.identity.formats = {"txt", "md"};
  EXPECT_EQ(run.Go().totals.documents_opened, 3);
  run.identity.fingerprint = "another model";
  EXPECT_EQ(run.Go().totals.documents_opened, 3);
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
