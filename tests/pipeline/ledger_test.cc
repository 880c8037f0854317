// What is kept between runs, and what a crash may do to it.
#include "pipeline/ledger.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "model/support/digest.h"
#include "model/support/error.h"
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

ResultIdentity TextIdentity() { return {{"f"}, {"f"}, {"txt"}}; }

TEST(LedgerTest, OneFolderBelongsToOneRunAtATime) {
  const TempFolder folder;
  const Ledger first(folder / "out", TextIdentity());
  EXPECT_THROW(Ledger(folder / "out", TextIdentity()), Error);
}

TEST(LedgerTest, AFileInPlaceOfTheOutputFolderIsTheEnvironmentsFault) {
  const TempFolder folder;
  folder.Write("out", "");
  try {
    const Ledger ledger(folder / "out", TextIdentity());
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kEnvironment);
  }
}

// Long ago: its stamp is trusted.
void Settle(const std::string& path) {
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
}

InputDocument DocumentAt(const std::string& path, const std::string& output) {
  InputDocument document;
  document.path = path;
  document.output = output;
  return document;
}

// The ledger of OUT with one finished document, read as a whole.
class RecordTest : public ::testing::Test {
 protected:
  RecordTest() : input_(DocumentAt(folder_.Write("a.tif", "x"), "a.tif")) {
    folder_.Write("out/a.tif.txt", "12345");
    Ledger ledger = Make();
    known_ = ledger.Know(input_);
    Record(ledger);
    whole_ = ReadFile(folder_ / "out/.platen/ledger.jsonl");
  }

  Ledger Make() { return Ledger(folder_ / "out", TextIdentity()); }
  void Record(Ledger& ledger, int of_pages = 1, int failed = 0) {
    DocumentRecord record;
    record.input = known_;
    record.name = record.source = input_.path;
    record.output = input_.output;
    record.of_pages = of_pages;
    record.failed = failed;
    record.output_bytes = {{"txt", 5}};
    std::vector<int> pages;
    for (int i = 1; i <= of_pages; ++i) pages.push_back(i);
    ledger.RecordDocument(std::move(record), pages);
  }
  bool IsFinished(const std::vector<PageRange>& chosen = {}) {
    return Make().IsFinished(known_, input_, chosen);
  }
  void WriteLedger(const std::string& bytes) { folder_.Write("out/.platen/ledger.jsonl", bytes); }
  // The record, with some of it put differently.
  std::string RecordWith(const nlohmann::ordered_json& changes) const {
    auto json = nlohmann::ordered_json::parse(whole_);
    json.update(changes);
    return json.dump();
  }

  TempFolder folder_;
  InputDocument input_;
  KnownInput known_;
  std::string whole_;
};

TEST_F(RecordTest, CutShortItIsIgnoredAndTheNextStandsOnItsOwnLine) {
  for (const size_t cut : {size_t{0}, size_t{1}, whole_.size() / 2, whole_.size() - 2}) {
    WriteLedger(whole_.substr(0, cut));
    {
      Ledger ledger = Make();
      EXPECT_FALSE(ledger.IsFinished(known_, input_, {})) << cut;
      Record(ledger);
    }
    EXPECT_TRUE(IsFinished()) << cut;
  }
}

TEST_F(RecordTest, LinesThatAreNoRecordsSayNothing) {
  const nlohmann::ordered_json stamp = {
      {"size", 1e300}, {"modified", 1}, {"changed", 1}, {"inode", 1}};
  const std::vector<std::string> lines = {R"({"record":1,"x":"document"})",
                                          R"(["document"])",
                                          R"("document")",
                                          RecordWith({{"key", 7}}),
                                          RecordWith({{"key", "../../etc"}}),
                                          RecordWith({{"sha256", "k"}}),
                                          RecordWith({{"output", "a\\x4"}}),
                                          RecordWith({{"file", {{"size", "x"}}}}),
                                          RecordWith({{"file", stamp}}),
                                          RecordWith({{"pages", -1}}),
                                          RecordWith({{"pages", 1e300}}),
                                          RecordWith({{"outputs", {{"txt", "x"}}}}),
                                          RecordWith({{"outputs", {{"txt", 1e300}}}}),
                                          RecordWith({{"of", 9999999999}}),
                                          RecordWith({{"page_list", "5-1"}}),
                                          RecordWith({{"page_list", 7}}),
                                          "\"document\" \xff\xfe",
                                          std::string(9 << 20, 'x') + "\"document\"",
                                          std::string(100'000, '[') + "\"document\""};
  for (const std::string& line : lines) {
    WriteLedger(line + "\n" + whole_ + line + "\n");
    const Ledger ledger = Make();
    EXPECT_TRUE(ledger.IsFinished(known_, input_, {})) << line.substr(0, 80);
    const bool too_long = line.size() > (8 << 20);  // not even looked at
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
    WriteLedger(RecordWith({{"pages", 1'000'000}, {"of", 1'000'000}, {"page_list", list}}) + "\n");
    EXPECT_EQ(IsFinished(), has_all) << list.substr(list.size() - 20);
  }
}

TEST_F(RecordTest, OfEarlierVersionsOnlyTheirSuccessCounts) {
  const std::string version_1 =
      R"({"record":"document","key":"k","name":"a.tif","pages":3,"failed":0,"outputs":{"txt":5}})";
  const std::string later =
      R"({"record":"document","key":"k","name":"a.tif","output":"a.tif","pages":3,"failed":1,)"
      R"("outputs":{"txt":5}})";
  WriteLedger(version_1 + "\n");
  EXPECT_FALSE(IsFinished());
  EXPECT_TRUE(Make().HoldsSuccess(input_));
  EXPECT_EQ(Make().damaged_records(), 0);
  WriteLedger(later + "\n");
  EXPECT_FALSE(IsFinished());
  EXPECT_FALSE(Make().HoldsSuccess(input_));
  EXPECT_EQ(Make().damaged_records(), 0);
}

TEST_F(RecordTest, AFileIsReadAgainOnlyIfTheFileSystemShowsAChange) {
  Settle(input_.path);
  const auto changed_now = [&] { return Make().Know(input_).content.sha256; };
  // Known by a record whose stamp is of long ago, though its sum is another's.
  const std::string other(kSha256HexLength, 'b');
  const FileStamp now = InputStamp(input_.path);
  const auto record = [&](int64_t changed_ns) {
    WriteLedger(RecordWith({{"sha256", other},
                            {"file",
                             {{"size", now.bytes},
                              {"modified", now.modified_ns},
                              {"changed", changed_ns},
                              {"inode", now.inode}}}}) +
                "\n");
  };
  record(now.changed_ns);
  EXPECT_EQ(changed_now(), other);
  ResultIdentity verifying = TextIdentity();
  verifying.verify_inputs = true;
  EXPECT_NE(Ledger(folder_ / "out", verifying).Know(input_).content.sha256, other);
  record(now.changed_ns - 1);
  EXPECT_NE(changed_now(), other);
}

// Nanoseconds since 1970 end in 2262.
TEST_F(RecordTest, TimesOfTheYear2400AreToldApart) {
  const auto modified_in = [&](time_t seconds) {
    const timespec times[] = {{seconds, 0}, {seconds, 0}};
    EXPECT_EQ(::utimensat(AT_FDCWD, input_.path.c_str(), times, 0), 0);
    return InputStamp(input_.path).modified_ns;
  };
  EXPECT_NE(modified_in(13'569'465'600), modified_in(13'569'465'601));
}

TEST_F(RecordTest, TheStampOfAFileThatHasJustChangedIsNotTrusted) {
  EXPECT_EQ(known_.stamp, FileStamp());
}

TEST_F(RecordTest, AKeyIsOfContentAndRecognition) {
  const InputDocument copy = DocumentAt(folder_.Write("b.tif", "x"), "b.tif");
  EXPECT_EQ(Make().Know(copy).key, known_.key);
  folder_.Write("b.tif", "y");
  EXPECT_NE(Make().Know(copy).key, known_.key);
  folder_.Write("b.tif", "x");
  ResultIdentity identity = TextIdentity();
  identity.pdfs.fingerprint = "other";
  EXPECT_EQ(Ledger(folder_ / "out", identity).Know(copy).key, known_.key);
  identity.images.fingerprint = "other";
  EXPECT_NE(Ledger(folder_ / "out", identity).Know(copy).key, known_.key);
  identity = TextIdentity();
  identity.names_outputs = true;
  const Ledger ledger(folder_ / "out", identity);
  EXPECT_NE(ledger.Know(copy).key, ledger.Know(input_).key);
}

TEST_F(RecordTest, OutputsOfTheSamePagesAddUp) {
  folder_.Write("out/a.tif.md", "123");
  const auto record_md = [&](int of_pages) {
    ResultIdentity identity = {{"f"}, {"f"}, {"md"}};
    Ledger ledger(folder_ / "out", identity);
    DocumentRecord record;
    record.input = known_;
    record.name = record.source = record.output = "a.tif";
    record.of_pages = of_pages;
    record.output_bytes = {{"md", 3}};
    ledger.RecordDocument(std::move(record), {1});
  };
  record_md(1);
  EXPECT_TRUE(IsFinished());
  const Ledger both(folder_ / "out", {{"f"}, {"f"}, {"txt", "md"}});
  EXPECT_TRUE(both.IsFinished(known_, input_, {}));
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
  for (const std::string name : {"tmp", "results"}) {
    victim.Write(name + "/d/a", "precious");
    fs::remove_all(folder_ / ("out/.platen/" + name));
    fs::create_directory_symlink(victim / name, folder_ / ("out/.platen/" + name));
    expect_refused(name);
    EXPECT_EQ(ReadFile(victim / (name + "/d/a")), "precious");
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

TEST_F(RecordTest, WhatHasAnotherNameTooIsNotAddedTo) {
  std::filesystem::create_hard_link(folder_ / "out/.platen/ledger.jsonl", folder_ / "copy");
  {
    Ledger ledger = Make();
    Record(ledger);
  }
  EXPECT_EQ(ReadFile(folder_ / "copy"), whole_);
  EXPECT_EQ(ReadFile(folder_ / "out/.platen/ledger.jsonl").size(), 2 * whole_.size());
  EXPECT_TRUE(IsFinished());
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

TEST_F(RecordTest, OutputsThatNothingCallsIncompleteAreASuccess) {
  EXPECT_TRUE(Make().HoldsSuccess(input_));
  WriteLedger("");
  EXPECT_TRUE(Make().HoldsSuccess(input_));
  {
    Ledger ledger = Make();
    Record(ledger, 2, 1);
  }
  EXPECT_FALSE(Make().HoldsSuccess(input_));
  std::filesystem::remove(folder_ / "out/a.tif.txt");
  WriteLedger(whole_);
  EXPECT_FALSE(Make().HoldsSuccess(input_));
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
