// Stored pages, and what a crash or somebody else may do to them.
#include "pipeline/page_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>

#include "model/support/compress.h"
#include "model/support/error.h"
#include "model/support/hash.h"
#include "pipeline/clean_results.h"
#include "pipeline/result_store.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::ReadFile;
using testing::TempFolder;

const PageFileHead kHead = {{{"model", "m", false}, {"dpi", "200", true}}, 9};

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

PageFile OpenPages(const TempFolder& folder) { return {Open(folder), "pages"}; }

TEST(PageFileTest, KeepsTheLastResultOfEveryPageAndItsHead) {
  const TempFolder folder;
  {
    PageFile file = OpenPages(folder);
    EXPECT_FALSE(file.head());
    EXPECT_FALSE(std::filesystem::exists(folder / "pages"));
    PageResult failed = MakePage(2, "");
    failed.error = "cannot be decoded";
    file.Append(kHead, failed);
    file.Append({}, MakePage(1, "one"));
    EXPECT_FALSE(file.HasComplete(2));
    file.Append({}, MakePage(2, "two"));
    EXPECT_TRUE(file.HasComplete(2));
  }
  const PageFile file = OpenPages(folder);
  ASSERT_TRUE(file.head());
  EXPECT_EQ(file.head()->of_pages, 9);
  EXPECT_EQ(file.head()->settings, kHead.settings);
  EXPECT_EQ(file.Read(1).regions.at(0).text, "one");
  EXPECT_EQ(file.Read(2).regions.at(0).text, "two");
  EXPECT_FALSE(file.Has(3));
  EXPECT_EQ(file.CompletePages(), (std::vector<int>{1, 2}));
}

// The bytes of a file after each of its records: the head, then a page each.
std::string WriteThree(const TempFolder& folder, std::vector<size_t>& ends) {
  PageFile file = OpenPages(folder);
  for (int i = 1; i <= 3; ++i) {
    file.Append(kHead, MakePage(i, "text of page " + std::to_string(i)));
    ends.push_back(ReadFile(folder / "pages").size());
  }
  return ReadFile(folder / "pages");
}

TEST(PageFileTest, CutShortAnywhereItKeepsTheWholeRecordsBeforeTheCut) {
  const TempFolder folder;
  std::vector<size_t> ends;
  const std::string whole = WriteThree(folder, ends);
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    folder.Write("pages", whole.substr(0, cut));
    PageFile file = OpenPages(folder);
    for (int page = 1; page <= 3; ++page) {
      EXPECT_EQ(file.Has(page), cut >= ends[static_cast<size_t>(page - 1)]) << cut;
    }
    file.Append(kHead, MakePage(9, "after the crash"));
    EXPECT_EQ(OpenPages(folder).Read(9).regions.at(0).text, "after the crash");
  }
}

TEST(PageFileTest, ADamagedByteEndsTheFileBeforeItsRecord) {
  const TempFolder folder;
  std::vector<size_t> ends;
  const std::string whole = WriteThree(folder, ends);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 0x40;
    folder.Write("pages", damaged);
    const PageFile file = OpenPages(folder);
    for (int page = 1; page <= 3; ++page) {
      EXPECT_EQ(file.Has(page), at >= ends[static_cast<size_t>(page - 1)]) << at;
    }
  }
}

std::string Bytes(uint64_t number, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

// A record as the file has them, whatever the JSON.
std::string Record(const std::string& json) {
  const std::string payload = Compress(json);
  return Bytes(payload.size(), 4) + Bytes(Hash64(payload, 0), 8) + payload;
}

TEST(PageFileTest, ARecordThatCarriesItsChecksumAndIsNoPageEndsTheFile) {
  const TempFolder folder;
  OpenPages(folder).Append(kHead, MakePage(1, "text"));
  const std::string whole = ReadFile(folder / "pages");
  const std::string page_ten = R"({"page":10,"width":1,"height":1,"rotation":0,"skew_degrees":0,)"
                               R"("regions":[]})";
  for (const std::string& json :
       {std::string("{}"), std::string("[]"), std::string("null"), std::string("{\"page\":1e99}"),
        std::string("no JSON"), std::string(100'000, '['), page_ten}) {
    folder.Write("pages", whole + Record(json) + whole);
    PageFile file = OpenPages(folder);
    EXPECT_EQ(file.CompletePages(), std::vector<int>{1}) << json.substr(0, 80);
    file.Append(kHead, MakePage(2, "next"));
    EXPECT_EQ(OpenPages(folder).CompletePages(), (std::vector<int>{1, 2})) << json.substr(0, 80);
  }
}

TEST(PageFileTest, AHeadThatIsNoneMakesTheFileAnew) {
  const TempFolder folder;
  OpenPages(folder).Append(kHead, MakePage(1, "text"));
  const std::string whole = ReadFile(folder / "pages");
  for (const char* head :
       {"{}", "[]", R"({"of_pages":0,"settings":[]})", R"({"of_pages":1e9,"settings":[]})",
        R"({"of_pages":1e300,"settings":[]})", R"({"of_pages":1.5,"settings":[]})",
        R"({"of_pages":9,"settings":[["a"]]})",
        R"({"of_pages":9,"settings":[["dpi","1} x",true]]})"}) {
    folder.Write("pages", Record(head) + whole);
    PageFile file = OpenPages(folder);
    EXPECT_FALSE(file.head()) << head;
    EXPECT_FALSE(file.Has(1)) << head;
    file.Append(kHead, MakePage(3, "next"));
    EXPECT_EQ(OpenPages(folder).CompletePages(), std::vector<int>{3}) << head;
  }
}

TEST(PageFileTest, LengthsAreCappedBeforeAnythingIsAllocated) {
  const TempFolder folder;
  folder.Write("pages", Bytes(0xFFFFFFFF, 4) + Bytes(0, 8) + "x");
  EXPECT_FALSE(OpenPages(folder).head());
  const std::string bomb = Compress(std::string(size_t{300} << 20, ' '));
  folder.Write("pages", Bytes(bomb.size(), 4) + Bytes(Hash64(bomb, 0), 8) + bomb);
  EXPECT_FALSE(OpenPages(folder).head());
}

std::string PageJson(int page, size_t bytes) {
  return R"({"page":)" + std::to_string(page) +
         R"(,"width":1,"height":1,"rotation":0,"skew_degrees":0,"regions":[],"x":")" +
         std::string(bytes, ' ') + "\"}";
}

TEST(PageFileTest, AStoredPageIsNotParsedIfItIsLongerThanAnyOfOurs) {
  const TempFolder folder;
  OpenPages(folder).Append(kHead, MakePage(1, "text"));
  const std::string whole = ReadFile(folder / "pages");
  folder.Write("pages", whole + Record(PageJson(2, kMostStoredPageBytes - 1000)));
  EXPECT_EQ(OpenPages(folder).CompletePages(), (std::vector<int>{1, 2}));
  folder.Write("pages", whole + Record(PageJson(2, kMostStoredPageBytes)));
  EXPECT_EQ(OpenPages(folder).CompletePages(), std::vector<int>{1});
}

TEST(PageFileTest, OnlyWhatCanBeReadAgainCanBeStored) {
  constexpr size_t kControl = kMostStoredPageBytes / 6;  // characters, six bytes of JSON each
  PageResult page = MakePage(1, std::string(kControl - 1000, '\1'));
  EXPECT_TRUE(CanBeStored(page));
  const TempFolder folder;
  OpenPages(folder).Append(kHead, page);
  EXPECT_EQ(OpenPages(folder).CompletePages(), std::vector<int>{1});
  page.regions[0].text.append(1000, '\1');
  EXPECT_FALSE(CanBeStored(page));

  page = MakePage(1, "");
  page.regions[0].lines.resize(1);
  page.regions[0].lines[0].words.resize(10'000);
  EXPECT_TRUE(CanBeStored(page));
  page.regions[0].lines[0].words.assign(500'000, {10'000, 10'001, {{{1234.5F, 1234.5F}}}, 0.1234});
  EXPECT_FALSE(CanBeStored(page));
}

TEST(PageFileTest, CompactsWhenMostOfItHasBeenReplaced) {
  const TempFolder folder;
  const Folder temporary = Open(folder);
  PageFile file = OpenPages(folder);
  for (int i = 0; i < 3; ++i) file.Append(kHead, MakePage(1, "version " + std::to_string(i)));
  file.Append(kHead, MakePage(2, "two"));
  const size_t before = ReadFile(folder / "pages").size();
  file.Compact(temporary);
  EXPECT_EQ(ReadFile(folder / "pages").size(), before) << "half of it counts";
  for (int i = 3; i < 9; ++i) file.Append(kHead, MakePage(1, "version " + std::to_string(i)));
  file.Compact(temporary);
  EXPECT_LT(ReadFile(folder / "pages").size(), before);
  EXPECT_EQ(file.Read(1).regions.at(0).text, "version 8");
  file.Append(kHead, MakePage(3, "three"));
  const PageFile again = OpenPages(folder);
  EXPECT_EQ(again.Read(2).regions.at(0).text, "two");
  EXPECT_EQ(again.CompletePages(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(again.head()->settings, kHead.settings);
}

const std::string kKey(kHashHexLength, 'a');

ResultsToClean OlderThan(std::chrono::system_clock::time_point time) {
  ResultsToClean choice;
  choice.before = time;
  return choice;
}

TEST(CleanResultsTest, RemovesWhatIsOldAndOnlyItsOwn) {
  namespace fs = std::filesystem;
  const TempFolder folder;
  const ResultStore store(Open(folder));
  store.Open(kKey)->Append(kHead, MakePage(1, "text"));
  folder.Write("aa/notes.txt", "somebody else's");
  folder.Write("other/" + kKey, "somebody else's");
  fs::create_symlink(folder / "other", folder / "bb");
  const auto now = std::chrono::system_clock::now();
  EXPECT_THROW(CleanResults(Open(folder), OlderThan(now)), Error) << "a link among the folders";
  fs::remove(folder / "bb");
  EXPECT_EQ(CleanResults(Open(folder), OlderThan(now - std::chrono::hours(1))).files, 0);
  const CleanedResults cleaned = CleanResults(Open(folder), OlderThan(now + std::chrono::hours(1)));
  EXPECT_EQ(cleaned.files, 1);
  EXPECT_GT(cleaned.bytes, 0);
  EXPECT_FALSE(store.Open(kKey)->head());
  EXPECT_TRUE(fs::exists(folder / "aa/notes.txt"));
  EXPECT_TRUE(fs::exists(folder / ("other/" + kKey)));
}

TEST(CleanResultsTest, WithoutAnAgeThoseOfTheYear2400GoToo) {
  const TempFolder folder;
  const ResultStore store(Open(folder));
  store.Open(kKey)->Append(kHead, MakePage(1, "text"));
  const timespec times[] = {{13569465600, 0}, {13569465600, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder / ("aa/" + kKey)).c_str(), times, 0), 0);
  EXPECT_EQ(CleanResults(Open(folder), OlderThan(std::chrono::system_clock::now())).files, 0);
  EXPECT_EQ(CleanResults(Open(folder), {}).files, 1);
}

// Six files, the first added to longest ago; "aa…", "bb…", ...
TEST(CleanResultsTest, RemovesTheOldestUntilTheRestFits) {
  namespace fs = std::filesystem;
  const TempFolder folder;
  const ResultStore store(Open(folder));
  int64_t all = 0, largest = 0;
  for (int i = 0; i < 6; ++i) {
    const std::string key(kHashHexLength, static_cast<char>('a' + i));
    store.Open(key)->Append(kHead, MakePage(1, std::string(static_cast<size_t>(100 * i), 'x')));
    const fs::path file = folder / (key.substr(0, 2) + "/" + key);
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(6 - i));
    largest = static_cast<int64_t>(fs::file_size(file));
    all += largest;
  }
  const auto is_there = [&](char digit) {
    return store.Open(std::string(kHashHexLength, digit))->head().has_value();
  };
  ResultsToClean choice;
  choice.at_most = all;
  EXPECT_EQ(CleanResults(Open(folder), choice).files, 0);
  choice.at_most = all - 1;
  EXPECT_EQ(CleanResults(Open(folder), choice, /*dry_run=*/true).files, 1);
  EXPECT_TRUE(is_there('a'));
  EXPECT_EQ(CleanResults(Open(folder), choice).files, 1);
  EXPECT_FALSE(is_there('a'));
  // Those that may go are fewer than it takes.
  choice.at_most = 0;
  choice.wanted = [](const std::string& key) { return key[0] == 'c'; };
  EXPECT_EQ(CleanResults(Open(folder), choice).files, 1);
  EXPECT_TRUE(is_there('b') && !is_there('c') && is_there('f'));
  choice.wanted = nullptr;
  choice.at_most = largest;
  const CleanedResults cleaned = CleanResults(Open(folder), choice);
  EXPECT_EQ(cleaned.files, 3);
  EXPECT_EQ(cleaned.kept_files, 1);
  EXPECT_EQ(cleaned.kept_bytes, largest);
  EXPECT_TRUE(is_there('f'));
}

// Two processes read the same content at once, each in a folder of its own for what it has begun.
class PartsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Folder> Parts(const std::string& name) {
    return std::make_shared<const Folder>(Folder::Open(folder_ / name, Folder::Missing::kCreate));
  }
  PageFile Begin(const std::string& parts) { return {Open(folder_), "pages", Parts(parts)}; }
  std::string Bytes() { return ReadFile(folder_ / "pages"); }

  const TempFolder folder_;
};

TEST_F(PartsTest, NobodySeesAFileBeforeItIsPublished) {
  PageFile first = Begin("first"), second = Begin("second");
  first.Append(kHead, MakePage(1, "one"));
  second.Append(kHead, MakePage(1, "one"));
  second.Append({}, MakePage(2, "two"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "pages"));
  first.Append({}, MakePage(2, "two"));
  EXPECT_TRUE(first.Publish());
  const std::string published = Bytes();
  EXPECT_FALSE(second.Publish()) << "the same pages are there";
  EXPECT_EQ(Bytes(), published);
  EXPECT_EQ(second.Read(2).regions.at(0).text, "two");
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "first"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "second"));
  EXPECT_EQ(OpenPages(folder_).CompletePages(), (std::vector<int>{1, 2}));
}

TEST_F(PartsTest, ACopyHasThePagesThatWereStored) {
  OpenPages(folder_).Append(kHead, MakePage(3, "three"));
  const std::string stored = Bytes();
  {
    PageFile file = Begin("first");
    EXPECT_FALSE(file.Publish()) << "nothing was appended";
    EXPECT_TRUE(file.HasComplete(3));
    file.Append({}, MakePage(4, "four"));
    EXPECT_EQ(Bytes(), stored);
    EXPECT_EQ(file.Read(3).regions.at(0).text, "three");
    EXPECT_EQ(file.Read(4).regions.at(0).text, "four");
    EXPECT_TRUE(file.Publish());
  }
  EXPECT_TRUE(Bytes().starts_with(stored));
  EXPECT_EQ(OpenPages(folder_).CompletePages(), (std::vector<int>{3, 4}));
}

TEST_F(PartsTest, WhatIsLongerStays) {
  PageFile first = Begin("first"), second = Begin("second");
  first.Append(kHead, MakePage(1, "one"));
  second.Append(kHead, MakePage(1, "one"));
  second.Append({}, MakePage(2, "two"));
  EXPECT_TRUE(second.Publish());
  EXPECT_FALSE(first.Publish());
  EXPECT_EQ(OpenPages(folder_).CompletePages(), (std::vector<int>{1, 2}));
}

// A copy of the folder by hard links (cp -al) is a copy.
TEST(PageFileTest, WhatHasAnotherNameToo) {
  const TempFolder folder;
  OpenPages(folder).Append(kHead, MakePage(1, "text"));
  const std::string before = ReadFile(folder / "pages");
  std::filesystem::create_hard_link(folder / "pages", folder / "copy");
  PageFile file = OpenPages(folder);
  file.Append(kHead, MakePage(2, "next"));
  EXPECT_EQ(ReadFile(folder / "copy"), before);
  EXPECT_EQ(file.Read(1).regions.at(0).text, "text");
  EXPECT_EQ(OpenPages(folder).CompletePages(), (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace platen
