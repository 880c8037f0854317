// A file is absent, complete, or what it was before.
#include "model/support/atomic_file.h"

#include <fcntl.h>
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

TEST(OpenAnewTest, OtherNamesAndWhatALinkNamesStayAsTheyAre) {
  const TempFolder folder;
  const Folder open = Open(folder);
  for (const bool hard : {true, false}) {
    folder.Write("theirs", "precious");
    hard ? std::filesystem::create_hard_link(folder / "theirs", folder / "a")
         : std::filesystem::create_symlink(folder / "theirs", folder / "a");
    const UniqueFd file = OpenAnew(open, "a", O_WRONLY);
    WriteAll(file.get(), "ours", "a");
    EXPECT_EQ(ReadFile(folder / "a"), "ours");
    EXPECT_EQ(ReadFile(folder / "theirs"), "precious");
    std::filesystem::remove(folder / "a");
  }
}

TEST(OpenOwnTest, AFileWithOtherNamesIsCopiedBeforeItIsAddedTo) {
  const TempFolder folder;
  const Folder open = Open(folder);
  const std::string bytes(3 << 20, 'x');
  folder.Write("theirs", bytes);
  std::filesystem::create_hard_link(folder / "theirs", folder / "a");
  WriteAll(OpenOwn(open, "a", O_RDWR | O_APPEND).get(), "more", "a");
  EXPECT_EQ(ReadFile(folder / "a"), bytes + "more");
  EXPECT_EQ(ReadFile(folder / "theirs"), bytes);
  std::filesystem::create_hard_link(folder / "theirs", folder / "b");
  OpenOwn(open, "b", O_RDWR, 5);
  EXPECT_EQ(ReadFile(folder / "b"), "xxxxx");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3);
}

}  // namespace
}  // namespace platen
