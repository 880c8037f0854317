// A file is absent, complete, or what it was before.
#include "model/support/atomic_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::ReadFile;
using testing::TempFolder;

Folder Open(const TempFolder& folder) {
  return Folder::Open(folder.path(), Folder::Missing::kFail);
}

TEST(AtomicFileTest, NothingRemainsWithoutCommit) {
  const TempFolder folder;
  const Folder open = Open(folder);
  folder.Write("a.txt", "before");
  {
    AtomicFile file(open, "tmp", open, "a.txt");
    file.Append("after");
    EXPECT_EQ(ReadFile(folder / "a.txt"), "before");
  }
  EXPECT_EQ(ReadFile(folder / "a.txt"), "before");
  EXPECT_FALSE(std::filesystem::exists(folder / "tmp"));
}

TEST(AtomicFileTest, CommitReplacesTheWholeFile) {
  const TempFolder folder;
  const Folder open = Open(folder);
  folder.Write("a.txt", "before and longer");
  AtomicFile file(open, "tmp", open, "a.txt");
  file.Append("af");
  file.Append("ter");
  file.Commit();
  EXPECT_EQ(file.bytes_appended(), 5);
  EXPECT_EQ(ReadFile(folder / "a.txt"), "after");
  EXPECT_FALSE(std::filesystem::exists(folder / "tmp"));
}

TEST(AtomicFileTest, BytesCanBeWrittenAtAPlace) {
  const TempFolder folder;
  const Folder open = Open(folder);
  AtomicFile file(open, "tmp", open, "a.txt");
  file.Write(3, "def");
  file.Append("ab");
  file.Write(1, "xyz");
  file.Append("c");
  file.Commit();
  EXPECT_EQ(ReadFile(folder / "a.txt"), "axczef");
}

}  // namespace
}  // namespace platen
