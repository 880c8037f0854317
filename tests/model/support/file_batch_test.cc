// Files of a batch appear together, each of them absent, complete, or what it was before.
#include "model/support/file_batch.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using testing::ReadFile;
using testing::TempFolder;

class FileBatchTest : public ::testing::Test {
 protected:
  FileBatchTest() {
    fs::create_directory(folder_ / "tmp");
    fs::create_directory(folder_ / "out");
    temporary_ =
        std::make_unique<const Folder>(Folder::Open(folder_ / "tmp", Folder::Missing::kFail));
    out_ = std::make_shared<const Folder>(Folder::Open(folder_ / "out", Folder::Missing::kFail));
  }

  void Add(FileBatch& batch, const std::string& name, const std::string& bytes) {
    AtomicFile file(*temporary_, batch.NextTemporaryName("txt"), *out_, name);
    file.Append(bytes);
    batch.Add(std::move(file), out_);
  }
  static size_t FilesIn(const std::string& folder) {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
  }

  TempFolder folder_;
  std::unique_ptr<const Folder> temporary_;
  std::shared_ptr<const Folder> out_;
};

TEST_F(FileBatchTest, FilesAppearAtCommit) {
  folder_.Write("out/a", "before");
  FileBatch batch;
  for (int i = 0; i < 20; ++i) Add(batch, std::string(1, static_cast<char>('a' + i)), "after");
  EXPECT_EQ(batch.size(), 20U);
  EXPECT_EQ(ReadFile(folder_ / "out/a"), "before");
  EXPECT_EQ(FilesIn(folder_ / "out"), 1U);
  batch.Commit();
  EXPECT_EQ(ReadFile(folder_ / "out/a"), "after");
  EXPECT_EQ(FilesIn(folder_ / "out"), 20U);
  EXPECT_EQ(FilesIn(folder_ / "tmp"), 0U);
  EXPECT_EQ(batch.size(), 0U);
  batch.Commit();  // of nothing
}

TEST_F(FileBatchTest, NothingRemainsWithoutCommit) {
  {
    FileBatch batch;
    for (int i = 0; i < 3; ++i) Add(batch, std::to_string(i), "x");
    EXPECT_EQ(FilesIn(folder_ / "tmp"), 3U);
  }
  EXPECT_EQ(FilesIn(folder_ / "tmp"), 0U);
  EXPECT_EQ(FilesIn(folder_ / "out"), 0U);
}

TEST_F(FileBatchTest, ANameThatCannotBeHadIsTheFailureOfItsGroupAlone) {
  fs::create_directory(folder_ / "out/taken");
  FileBatch batch;
  const size_t first = batch.BeginGroup();
  Add(batch, "a", "1");
  const size_t second = batch.BeginGroup();
  Add(batch, "taken", "2");
  Add(batch, "b", "3");
  batch.Commit();
  EXPECT_FALSE(batch.TakeFailure(first).has_value());
  const auto failure = batch.TakeFailure(second);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind(), ErrorKind::kInput);
  EXPECT_FALSE(batch.TakeFailure(second).has_value());
  EXPECT_EQ(ReadFile(folder_ / "out/a") + ReadFile(folder_ / "out/b"), "13");
  EXPECT_EQ(FilesIn(folder_ / "tmp"), 0U);
}

TEST_F(FileBatchTest, ManyFilesOrBytesAreCommittedAtOnce) {
  FileBatch batch;
  for (size_t i = 0; i < FileBatch::kMostFiles; ++i) {
    EXPECT_EQ(FilesIn(folder_ / "out"), 0U);
    Add(batch, std::to_string(i), "x");
  }
  EXPECT_EQ(FilesIn(folder_ / "out"), FileBatch::kMostFiles);
  Add(batch, "small", "x");
  EXPECT_FALSE(fs::exists(folder_ / "out/small"));
  Add(batch, "large", std::string(FileBatch::kMostBytes, 'x'));
  EXPECT_TRUE(fs::exists(folder_ / "out/small"));
  EXPECT_TRUE(fs::exists(folder_ / "out/large"));
}

TEST_F(FileBatchTest, SomethingCanBeDoneBeforeTheFirstHasItsName) {
  size_t there = 99;
  FileBatch batch([&] { there = FilesIn(folder_ / "out"); });
  batch.Commit();
  EXPECT_EQ(there, 99U);
  Add(batch, "a", "x");
  batch.Commit();
  EXPECT_EQ(there, 0U);
}

}  // namespace
}  // namespace platen
