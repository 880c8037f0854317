// What is kept between runs, and what a crash may do to it.
#include "pipeline/ledger.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "model/support/digest.h"
#include "model/support/error.h"
#include "tests/support/fake_pages.h"

namespace platen {
namespace {

using testing::ReadFile;
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
    json.erase("sum");
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

// "failed":1 is one bit from "failed":0, which would leave a page out for ever.
TEST_F(RecordTest, AFlippedBitNeverMakesAnotherRecord) {
  {
    WriteLedger("");
    Ledger ledger = Make();
    Record(ledger, /*of_pages=*/9, /*failed=*/1);
  }
  const std::string line = ReadFile(folder_ / "out/.platen/ledger.jsonl");
  const Folder state = Folder::Open(folder_ / "out/.platen", Folder::Missing::kFail);
  for (size_t i = 0; i < 8 * line.size(); ++i) {
    std::string flipped = line;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ 1 << i % 8);
    WriteLedger(flipped);
    LedgerVisitor visitor;
    visitor.document = [&](const DocumentRecord& record) {
      EXPECT_EQ(DocumentLine(record, SelectPages(record.pages, record.of_pages)) + "\n", line)
          << flipped;
    };
    ReadLedger(state, visitor);
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

}  // namespace
}  // namespace platen
