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

Folder Open(const TempFolder& folder) {
  return Folder::Open(folder.path(), Folder::Missing::kFail);
}

TEST(WriteDocumentTest, WritesEveryFormatBelowFoldersItMakes) {
  const TempFolder folder;
  const Folder open = Open(folder);
  const auto written =
      WriteDocument(open, "x/y/doc.tif", {"txt", "json"}, {"doc.tif", {}}, TwoPages(), open);
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(ReadFile(folder / "x/y/doc.tif.txt"), "page 1\n\fpage 2\n");
  EXPECT_EQ(written[1].bytes, static_cast<int64_t>(ReadFile(folder / "x/y/doc.tif.json").size()));
}

TEST(WriteDocumentTest, SomeFormatsHaveAFileForEachPage) {
  const TempFolder folder;
  const Folder open = Open(folder);
  const auto suffixes = [&](const DocumentPages& pages) {
    std::vector<std::string> all;
    for (const auto& file : WriteDocument(open, "d", {"alto", "txt"}, {"d", {}}, pages, open)) {
      EXPECT_EQ(file.bytes, static_cast<int64_t>(ReadFile(folder / ("d." + file.suffix)).size()));
      all.push_back(file.suffix);
    }
    return all;
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(suffixes(TwoPages()), (List{"p0001.alto.xml", "p0002.alto.xml", "txt"}));
  const std::string second = ReadFile(folder / "d.p0002.alto.xml");
  EXPECT_NE(second.find("CONTENT=\"page 2\""), std::string::npos);
  EXPECT_TRUE(second.starts_with("<?xml") && second.ends_with("</alto>\n")) << second;
  DocumentPages one = {1, [](int) { return TwoPages().page(1); }};
  EXPECT_EQ(suffixes(one), (List{"alto.xml", "txt"}));
  one.of_pages = 7;  // one was chosen
  EXPECT_EQ(suffixes(one), (List{"p0002.alto.xml", "txt"}));
}

TEST(WriteDocumentTest, PicturesAreNamedFromTheOutputsFolder) {
  const TempFolder folder;
  const Folder open = Open(folder);
  const DocumentPages pages{1, [](int) {
                              PageResult page;
                              RegionResult region;
                              region.kind = RegionKind::kFigure;
                              region.image = "images/p1-1.png";
                              page.regions.push_back(region);
                              return page;
                            }};
  for (const std::string& stem : {std::string("d"), std::string("x/y/d")}) {
    WriteDocument(open, stem, {"md", "json"}, {"d", {}}, pages, open);
    const std::string url = (stem == "d" ? "" : "../../") + std::string("images/p1-1.png");
    EXPECT_NE(ReadFile(folder / (stem + ".md")).find("![](" + url + ")"), std::string::npos);
    EXPECT_NE(ReadFile(folder / (stem + ".json")).find("\"image\":\"" + url + "\""),
              std::string::npos);
  }
}

TEST(WriteDocumentTest, APageThatThrowsLeavesTheOldFile) {
  const TempFolder folder;
  folder.Write("doc.txt", "old");
  const DocumentPages broken{
      1, [](int) -> PageResult { throw Error(ErrorKind::kEnvironment, {}, "gone"); }};
  const Folder open = Open(folder);
  EXPECT_THROW(WriteDocument(open, "doc", {"txt"}, {"d", {}}, broken, open), Error);
  EXPECT_EQ(ReadFile(folder / "doc.txt"), "old");
}

ErrorKind KindOfFailure(const std::string& root, const std::string& stem,
                        const TempFolder& folder) {
  try {
    WriteDocument(Folder::Open(root, Folder::Missing::kFail), stem, {"txt"}, {"d", {}}, TwoPages(),
                  Open(folder));
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
  for (const std::string& stem :
       {std::string(253, 'n'), std::string("taken"), std::string("file/below")}) {
    EXPECT_EQ(KindOfFailure(folder.path(), stem, folder), ErrorKind::kInput) << stem;
  }
}

TEST(WriteDocumentTest, NothingIsWrittenThroughALink) {
  const TempFolder folder, victim;
  victim.Write("doc.txt", "precious");
  std::filesystem::create_directory_symlink(victim.path(), folder / "link");
  std::filesystem::create_symlink(victim / "doc.txt", folder / "doc.txt");
  EXPECT_EQ(KindOfFailure(folder.path(), "link/doc", folder), ErrorKind::kInput);
  EXPECT_EQ(KindOfFailure(folder.path(), "link/deeper/doc", folder), ErrorKind::kInput);
  const Folder open = Open(folder);
  WriteDocument(open, "doc", {"txt"}, {"d", {}}, TwoPages(), open);  // the link itself is replaced
  EXPECT_TRUE(
      std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / "doc.txt")));
  EXPECT_EQ(ReadFile(victim / "doc.txt"), "precious");
}

TEST(WriteDocumentTest, AFolderThatRefusesIsTheEnvironmentsFault) {
  if (::geteuid() == 0) {
    EXPECT_EQ(KindOfFailure("/proc", "platen/doc", TempFolder()), ErrorKind::kEnvironment);
    return;  // root may write anywhere else
  }
  const TempFolder folder;
  std::filesystem::create_directory(folder / "ro");
  std::filesystem::permissions(
      folder / "ro", std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_EQ(KindOfFailure(folder.path(), "ro/doc", folder), ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace platen
