// Output files are absent, complete, or what they were before.
#include "stages/write_outputs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::ReadFile;
using testing::TempFolder;

DocumentPages TwoPages() {
  return {2, [](int index) {
            PageResult page;
            page.page = index + 1;
            RegionResult region;
            region.text = "page " + std::to_string(index + 1);
            page.regions.push_back(region);
            return page;
          }};
}

TEST(AtomicFileTest, NothingRemainsWithoutCommit) {
  const TempFolder folder;
  folder.Write("a.txt", "before");
  {
    AtomicFile file(folder / "tmp", folder / "a.txt");
    file.Append("after");
    EXPECT_EQ(ReadFile(folder / "a.txt"), "before");
  }
  EXPECT_EQ(ReadFile(folder / "a.txt"), "before");
  EXPECT_FALSE(std::filesystem::exists(folder / "tmp"));
}

TEST(AtomicFileTest, CommitReplacesTheWholeFile) {
  const TempFolder folder;
  folder.Write("a.txt", "before and longer");
  AtomicFile file(folder / "tmp", folder / "a.txt");
  file.Append("af");
  file.Append("ter");
  file.Commit();
  EXPECT_EQ(file.bytes_written(), 5);
  EXPECT_EQ(ReadFile(folder / "a.txt"), "after");
  EXPECT_FALSE(std::filesystem::exists(folder / "tmp"));
}

TEST(WriteDocumentTest, WritesEveryFormatBelowFoldersItMakes) {
  const TempFolder folder;
  const auto written = WriteDocument(folder / "x/y/doc.tif", {"txt", "json"}, {"doc.tif", {}},
                                     TwoPages(), folder.path());
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(ReadFile(folder / "x/y/doc.tif.txt"), "page 1\n\fpage 2\n");
  EXPECT_EQ(written[1].bytes,
            static_cast<int64_t>(ReadFile(folder / "x/y/doc.tif.json").size()));
}

TEST(WriteDocumentTest, APageThatThrowsLeavesTheOldFile) {
  const TempFolder folder;
  folder.Write("doc.txt", "old");
  const DocumentPages broken{1, [](int) -> PageResult {
                               throw Error(ErrorKind::kEnvironment, {}, "gone");
                             }};
  EXPECT_THROW(WriteDocument(folder / "doc", {"txt"}, {"d", {}}, broken, folder.path()), Error);
  EXPECT_EQ(ReadFile(folder / "doc.txt"), "old");
}

ErrorKind KindOfFailure(const std::string& stem, const TempFolder& folder) {
  try {
    WriteDocument(stem, {"txt"}, {"d", {}}, TwoPages(), folder.path());
  } catch (const Error& e) {
    return e.kind();
  }
  ADD_FAILURE() << "no error for " << stem;
  return ErrorKind::kUsage;
}

TEST(WriteDocumentTest, ANameThatCannotBeWrittenIsOneDocumentsFault) {
  const TempFolder folder;
  folder.Write("file", "");
  std::filesystem::create_directory(folder / "taken.txt");
  EXPECT_EQ(KindOfFailure(folder / std::string(253, 'n'), folder), ErrorKind::kInput);
  EXPECT_EQ(KindOfFailure(folder / "taken", folder), ErrorKind::kInput);
  EXPECT_EQ(KindOfFailure(folder / "file/below", folder), ErrorKind::kInput);
}

TEST(WriteDocumentTest, AFolderThatRefusesIsTheEnvironmentsFault) {
  if (::geteuid() == 0) {
    EXPECT_EQ(KindOfFailure("/proc/platen/doc", TempFolder()), ErrorKind::kEnvironment);
    return;  // root may write anywhere else
  }
  const TempFolder folder;
  std::filesystem::create_directory(folder / "ro");
  std::filesystem::permissions(folder / "ro", std::filesystem::perms::owner_read |
                                                  std::filesystem::perms::owner_exec);
  EXPECT_EQ(KindOfFailure(folder / "ro/doc", folder), ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace platen
