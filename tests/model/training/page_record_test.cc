#include "model/training/page_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPlenty = int64_t{1} << 30;
const RecordedWith kWith = {
    .base_model = "abc", .precision = "int8", .hidden_size = 3, .vocab_size = 50};

TrainingPage MakePage(const std::string& document, const std::string& place, TokenId first) {
  TrainingPage page;
  page.document = document;
  page.place = place;
  page.prompt = 2;
  page.ids = {first, 7, 8, 9, 1};
  for (auto& axis : page.positions) axis = {0, 1, 2, 3, 4};
  page.hidden.Resize(4, 3);
  for (size_t i = 0; i < 12; ++i) page.hidden.values()[i] = 0.25F * static_cast<float>(i);
  page.teacher_width = 2;
  page.teacher_ids = {8, 1, 9, 2, 1, 3};
  page.teacher_logits = {5, 1, 4, 2, 3, 0};
  return page;
}

void ExpectSame(const TrainingPage& a, const TrainingPage& b) {
  EXPECT_EQ(a.document, b.document);
  EXPECT_EQ(a.place, b.place);
  EXPECT_EQ(a.prompt, b.prompt);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.hidden.values(), b.hidden.values());
  EXPECT_EQ(a.teacher_ids, b.teacher_ids);
  EXPECT_EQ(a.teacher_logits, b.teacher_logits);
}

class PageRecordTest : public ::testing::Test {
 protected:
  std::string dir() const { return folder_ / "records"; }
  void Add(const TrainingPage& page, const RecordedWith& with = kWith) const {
    PageRecorder recorder(dir(), with, kPlenty);
    EXPECT_TRUE(recorder.Add(page));
  }
  RecordedPages Read() const { return ReadRecords(dir(), kPlenty); }
  std::string OnlyFile() const { return fs::directory_iterator(dir())->path().string(); }

  TempFolder folder_;
};

TEST_F(PageRecordTest, WhatIsWrittenIsRead) {
  Add(MakePage("b", "1/0", 5));
  Add(MakePage("a", "2/1", 6));
  const RecordedPages read = Read();
  EXPECT_EQ(read.with, kWith);
  EXPECT_EQ(read.damaged, 0);
  EXPECT_EQ(read.torn, 0);
  ASSERT_EQ(read.pages.size(), 2U);
  ExpectSame(*WholePage(read.pages[0]), MakePage("a", "2/1", 6));  // by name, whoever wrote it when
  ExpectSame(*WholePage(read.pages[1]), MakePage("b", "1/0", 5));
  EXPECT_TRUE(read.pages[0].hidden.values().empty()) << "only read where it is used";
}

// Another file by now, or none: an error, no other page.
TEST_F(PageRecordTest, RecordsThatChangeWhileTheyAreInUseAreNoticed) {
  Add(MakePage("a", "1/0", 5));
  const RecordedPages read = Read();
  const std::string bytes = ReadFile(OnlyFile());
  std::string changed = bytes;
  changed[changed.size() - 3] ^= 0x20;
  const std::string name = "records/" + fs::path(OnlyFile()).filename().string();
  for (const std::string& other : {changed, bytes.substr(0, 40), std::string()}) {
    folder_.Write(name, other);
    EXPECT_THROW(WholePage(read.pages[0]), Error) << other.size();
  }
  fs::remove(folder_ / name);
  Add(MakePage("b", "1/0", 5));
  EXPECT_THROW(WholePage(read.pages[0]), Error) << "a record of another page";
  fs::remove(OnlyFile());
  EXPECT_THROW(WholePage(read.pages[0]), Error);
  folder_.Write(name, bytes);
  ExpectSame(*WholePage(read.pages[0]), MakePage("a", "1/0", 5));
}

TEST_F(PageRecordTest, OfSeveralRecordsOfAPlaceTheLastCounts) {
  Add(MakePage("a", "1/0", 5));
  Add(MakePage("a", "1/0", 6));
  ASSERT_EQ(Read().pages.size(), 1U);
  EXPECT_EQ(Read().pages[0].ids[0], 6);
}

// As a run that was killed, or a disk that was full, leaves it.
TEST_F(PageRecordTest, ATornEndCostsWhatIsTorn) {
  {
    PageRecorder recorder(dir(), kWith, kPlenty);
    recorder.Add(MakePage("a", "1/0", 5));
    recorder.Add(MakePage("a", "1/1", 6));
  }
  const auto whole = fs::file_size(OnlyFile());
  for (uintmax_t size = whole / 2; size < whole; size += 7) {
    fs::resize_file(OnlyFile(), size);
    const RecordedPages read = Read();
    ASSERT_EQ(read.pages.size(), 1U) << size;
    EXPECT_EQ(read.torn, size == whole / 2 ? 0 : 1) << size;
    EXPECT_EQ(read.torn_bytes, static_cast<int64_t>(size - whole / 2)) << size;
    EXPECT_EQ(read.damaged, 0) << size;
    std::string bytes = ReadFile(OnlyFile());
    folder_.Write("records/" + fs::path(OnlyFile()).filename().string(),
                  bytes + std::string(whole - size, '\0'));
  }
}

TEST_F(PageRecordTest, AByteThatChangedIsNoticed) {
  Add(MakePage("a", "1/0", 5));
  const std::string bytes = ReadFile(OnlyFile()), name = fs::path(OnlyFile()).filename().string();
  for (size_t i = 16; i < bytes.size(); i += 11) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    folder_.Write("records/" + name, changed);
    EXPECT_THROW(Read(), Error) << i;  // nothing is left
  }
}

// Where lengths are right the records behind a damaged one are found.
TEST_F(PageRecordTest, ADamagedRecordCostsItselfAlone) {
  {
    PageRecorder recorder(dir(), kWith, kPlenty);
    for (int i = 0; i < 3; ++i) recorder.Add(MakePage("a", "1/" + std::to_string(i), 5 + i));
  }
  const std::string bytes = ReadFile(OnlyFile()), name = fs::path(OnlyFile()).filename().string();
  const size_t one = bytes.size() / 3;
  constexpr size_t kLength = sizeof(uint64_t);
  for (size_t which = 0; which < 3; ++which) {
    for (size_t i = which * one + kLength; i < (which + 1) * one; i += 13) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      folder_.Write("records/" + name, changed);
      const RecordedPages read = Read();
      ASSERT_EQ(read.pages.size(), 2U) << i;
      EXPECT_EQ(read.damaged, 1) << i;
      EXPECT_EQ(read.torn, 0) << i;
      for (const TrainingPage& page : read.pages) {
        ASSERT_NE(page.place, "1/" + std::to_string(which)) << i;
        ExpectSame(*WholePage(page), MakePage("a", page.place, page.place.back() - '0' + 5));
      }
    }
  }
}

TEST_F(PageRecordTest, RecordsOfAnotherModelAreRefused) {
  Add(MakePage("a", "1/0", 5));
  RecordedWith other = kWith;
  other.base_model = "def";
  Add(MakePage("b", "1/0", 5), other);
  try {
    Read();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInput);
    EXPECT_NE(e.reason().find("another model"), std::string::npos);
  }
}

TEST_F(PageRecordTest, TheFolderGrowsToItsLimitAndNoFurther) {
  const auto one = static_cast<int64_t>(RecordBytes(MakePage("a", "1/0", 5), kWith).size() + 16);
  {
    PageRecorder recorder(dir(), kWith, 2 * one);
    EXPECT_TRUE(recorder.Add(MakePage("a", "1/0", 5)));
    EXPECT_TRUE(recorder.Add(MakePage("a", "1/1", 5)));
    EXPECT_FALSE(recorder.Add(MakePage("a", "1/2", 5)));
    EXPECT_EQ(recorder.pages(), 2);
  }
  PageRecorder later(dir(), kWith, 2 * one);
  EXPECT_FALSE(later.Add(MakePage("a", "1/2", 5)));
  EXPECT_EQ(Read().pages.size(), 2U);
  EXPECT_THROW(ReadRecords(dir(), 1500), Error);  // of memory, which two pages' ids need
}

TEST_F(PageRecordTest, LinksAreNotFollowed) {
  Add(MakePage("a", "1/0", 5));
  fs::create_directory(folder_ / "other");
  fs::rename(OnlyFile(), folder_ / "other/secret.drafts");
  fs::create_symlink(folder_ / "other/secret.drafts", folder_ / "records/000009.drafts");
  EXPECT_THROW(Read(), Error);
}

// Everything in a record is checked against the bytes that are there, the checksum being right.
TEST_F(PageRecordTest, HostileRecordsAreRefused) {
  const std::string good = RecordBytes(MakePage("a", "1/0", 5), kWith);
  RecordedWith with;
  ExpectSame(ParseRecord(good, "f", with), MakePage("a", "1/0", 5));
  const auto refused = [&](std::string payload) {
    try {
      ParseRecord(payload, "f", with);
      return false;
    } catch (const Error& e) {
      EXPECT_EQ(e.location().file, "f");
      return e.kind() == ErrorKind::kInput;
    }
  };
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("abc"));
  EXPECT_TRUE(refused(good.substr(0, good.size() - 1)));
  EXPECT_TRUE(refused(good + "x"));
  const auto with_field = [&](const std::string& from, const std::string& to) {
    std::string payload = good;
    const size_t at = payload.find(from);
    EXPECT_NE(at, std::string::npos);
    payload.replace(at, from.size(), to);
    uint32_t length = 0;
    std::memcpy(&length, payload.data(), 4);
    length += static_cast<uint32_t>(to.size() - from.size());
    std::memcpy(payload.data(), &length, 4);
    return payload;
  };
  EXPECT_TRUE(refused(with_field("\"length\":5", "\"length\":1048577")));
  EXPECT_TRUE(refused(with_field("\"length\":5", "\"length\":1048576")));
  EXPECT_TRUE(refused(with_field("\"prompt\":2", "\"prompt\":5")));
  EXPECT_TRUE(refused(with_field("\"prompt\":2", "\"prompt\":0")));
  EXPECT_TRUE(refused(with_field("\"hidden_size\":3", "\"hidden_size\":65536")));
  EXPECT_TRUE(refused(with_field("\"vocab_size\":50", "\"vocab_size\":8")));
  EXPECT_TRUE(refused(with_field("\"format\":1", "\"format\":2")));
  TrainingPage infinite = MakePage("a", "1/0", 5);
  infinite.hidden.values()[4] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(refused(RecordBytes(infinite, kWith)));
}

TEST_F(PageRecordTest, AnEmptyFolderSaysWhatToDo) {
  fs::create_directory(dir());
  try {
    Read();
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.reason().find("tune-mtp record"), std::string::npos);
  }
}

}  // namespace
}  // namespace platen::testing
