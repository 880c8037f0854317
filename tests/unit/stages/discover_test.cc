// Which documents are read, in which order, and where their outputs go.
#include "stages/discover.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <filesystem>

#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

std::vector<std::string> Outputs(const Discovery& discovery) {
  std::vector<std::string> outputs;
  for (const InputDocument& d : discovery.documents) outputs.push_back(d.output);
  return outputs;
}

// Tests run in a folder of their own, so relative names mean what they say.
class DiscoverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(folder_.path());
  }
  void TearDown() override { fs::current_path(before_); }

  Discovery Discover(std::vector<std::string> arguments, const std::string& output = "out") {
    return DiscoverDocuments({std::move(arguments), {}, output, ""});
  }

  TempFolder folder_;
  fs::path before_;
};

TEST_F(DiscoverTest, FoldersAreWalkedInNaturalOrderAndMirrored) {
  for (const char* name : {"scans/page10.tif", "scans/page2.TIF", "scans/a/1.png", "scans/b.jpg"}) {
    folder_.Write(name, "x");
  }
  EXPECT_EQ(Outputs(Discover({"scans"})),
            (std::vector<std::string>{"scans/a/1.png", "scans/b.jpg", "scans/page2.TIF",
                                      "scans/page10.tif"}));
  EXPECT_EQ(Discover({"./scans/"}).documents[1].path, "./scans/b.jpg");
  EXPECT_EQ(Outputs(Discover({"./scans/"})), Outputs(Discover({"scans"})));
  EXPECT_EQ(Outputs(Discover({"."})), Outputs(Discover({"scans"})));
}

TEST_F(DiscoverTest, HiddenAndForeignFilesAreSkippedAndCounted) {
  for (const char* name : {"s/.hidden.png", "s/.git/x.png", "s/notes.txt", "s/noext", "s/a.png"}) {
    folder_.Write(name, "x");
  }
  ASSERT_EQ(::mkfifo((folder_ / "s/pipe.png").c_str(), 0600), 0);
  const Discovery found = Discover({"s"});
  EXPECT_EQ(Outputs(found), std::vector<std::string>{"s/a.png"});
  EXPECT_EQ(found.skipped_hidden, 2);
  EXPECT_EQ(found.skipped_foreign, 3);
}

TEST_F(DiscoverTest, TheOutputFolderIsNeverRead) {
  folder_.Write("s/a.png", "x");
  folder_.Write("s/out/b.png", "x");
  EXPECT_EQ(Outputs(Discover({"s"}, "s/out")), std::vector<std::string>{"s/a.png"});
  EXPECT_EQ(Outputs(Discover({"s"}, "s/../s/out")), std::vector<std::string>{"s/a.png"});
  EXPECT_THROW(Discover({"s/out"}, "s/out"), Error);
}

TEST_F(DiscoverTest, LinksThatLoopAreFollowedOnce) {
  folder_.Write("s/a/1.png", "x");
  fs::create_directory_symlink("..", folder_ / "s/a/up");
  fs::create_directory_symlink("a", folder_ / "s/b");
  fs::create_symlink("1.png", folder_ / "s/a/2.png");
  EXPECT_EQ(Outputs(Discover({"s"})), (std::vector<std::string>{"s/a/1.png", "s/a/2.png"}));
}

TEST_F(DiscoverTest, NamesThatCannotBeReadBecomeDocumentsWithErrors) {
  folder_.Write("a.png", "x");
  fs::create_symlink("nowhere", folder_ / "broken.png");
  const Discovery found = Discover({"missing.png", "a.png", "*.gif", "/dev/null"});
  ASSERT_EQ(found.documents.size(), 4U);
  EXPECT_EQ(found.documents[0].error, "No such file or directory");
  EXPECT_EQ(found.documents[1].error, "");
  EXPECT_EQ(found.documents[2].error, "no file matches this pattern");
  EXPECT_EQ(found.documents[3].error, "not a regular file");
  EXPECT_EQ(Discover({"."}).documents.at(1).error, "a link that leads nowhere");
}

TEST_F(DiscoverTest, PatternsAreExpandedInNaturalOrderUnlessAFileHasThatName) {
  for (const char* name : {"p/10.png", "p/9.png", "p/x/1.png", "[1].png"}) folder_.Write(name, "x");
  EXPECT_EQ(Outputs(Discover({"p/*.png"})), (std::vector<std::string>{"p/9.png", "p/10.png"}));
  EXPECT_EQ(Outputs(Discover({"[1].png"})), std::vector<std::string>{"[1].png"});
  EXPECT_EQ(Outputs(Discover({folder_ / "p/*/*.png"})), std::vector<std::string>{"p/x/1.png"});
}

TEST_F(DiscoverTest, AbsoluteAndClimbingPathsKeepTheirLastName) {
  folder_.Write("in/deep/scans/a.png", "x");
  EXPECT_EQ(Outputs(Discover({folder_ / "in/deep"})),
            std::vector<std::string>{"deep/scans/a.png"});
  EXPECT_EQ(Outputs(Discover({folder_ / "in/deep/scans/a.png"})),
            std::vector<std::string>{"a.png"});
  fs::current_path(folder_ / "in/deep");
  EXPECT_EQ(Outputs(Discover({"../deep"})), std::vector<std::string>{"deep/scans/a.png"});
  EXPECT_EQ(Outputs(Discover({"./../deep/scans/../scans/a.png"})),
            std::vector<std::string>{"a.png"});
}

TEST_F(DiscoverTest, TwoInputsWithOneOutputAreAnErrorThatNamesBoth) {
  folder_.Write("x/a.png", "1");
  folder_.Write("y/a.png", "2");
  try {
    Discover({folder_ / "x/a.png", folder_ / "y/a.png"});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kUsage);
    EXPECT_NE(std::string(e.what()).find("x/a.png"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("y/a.png"), std::string::npos) << e.what();
  }
  const Discovery rooted =
      DiscoverDocuments({{folder_ / "x/a.png", folder_ / "y"}, {}, "out", folder_.path()});
  EXPECT_EQ(Outputs(rooted), (std::vector<std::string>{"x/a.png", "y/a.png"}));
  EXPECT_THROW(DiscoverDocuments({{"/etc"}, {}, "out", folder_.path()}), Error);
}

TEST_F(DiscoverTest, TheSameFileNamedTwiceIsReadOnce) {
  folder_.Write("s/a.png", "1");
  const Discovery found = Discover({"s", "s/a.png", "./s//a.png"});
  EXPECT_EQ(Outputs(found), std::vector<std::string>{"s/a.png"});
  EXPECT_EQ(found.repeated, 2);
}

TEST_F(DiscoverTest, NamesThatWouldReplaceThePlatformsOwnFilesAreRefused) {
  folder_.Write("run", "1");
  folder_.Write(".platen/a.png", "1");
  EXPECT_THROW(Discover({"run"}), Error);
  EXPECT_THROW(Discover({".platen/a.png"}), Error);
}

TEST_F(DiscoverTest, NamesAreBytes) {
  folder_.Write("s/caf\xE9.png", "x");
  folder_.Write("s/new\nline.png", "x");
  EXPECT_EQ(Outputs(Discover({"s"})),
            (std::vector<std::string>{"s/caf\xE9.png", "s/new\nline.png"}));
}

TEST_F(DiscoverTest, ListedNamesAreNeverPatterns) {
  folder_.Write("a.png", "x");
  const Discovery found = DiscoverDocuments({{}, {"*.png", "a.png"}, "out", ""});
  ASSERT_EQ(found.documents.size(), 2U);
  EXPECT_EQ(found.documents[0].error, "No such file or directory");
}

TEST(ParseNameListTest, LineBreaksOrNulSeparateNames) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(ParseNameList("a\nb c\r\n\n#d"), (Names{"a", "b c", "#d"}));
  EXPECT_EQ(ParseNameList(std::string("a\nb\0c\0", 6)), (Names{"a\nb", "c"}));
  EXPECT_EQ(ParseNameList(""), Names{});
}

TEST(NaturalLessTest, IsATotalOrder) {
  const std::vector<std::string> sorted = {"",       "1",      "01",     "2",    "10",
                                           "99999999999999999998", "99999999999999999999",
                                           "a",      "a1b2",   "a1b10",  "a2",   "b"};
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (size_t j = 0; j < sorted.size(); ++j) {
      const bool equal_number = (sorted[i] == "1" && sorted[j] == "01") ||
                                (sorted[i] == "01" && sorted[j] == "1");
      if (equal_number) {
        EXPECT_NE(NaturalLess(sorted[i], sorted[j]), NaturalLess(sorted[j], sorted[i]));
      } else {
        EXPECT_EQ(NaturalLess(sorted[i], sorted[j]), i < j) << sorted[i] << " " << sorted[j];
      }
    }
  }
}

TEST(PageRangesTest, AreInclusiveAndMayOverlapOrStayOpen) {
  EXPECT_EQ(SelectPages(ParsePageRanges("1-3,2,9,6-"), 7), (std::vector<int>{1, 2, 3, 6, 7}));
  EXPECT_EQ(SelectPages({}, 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(SelectPages(ParsePageRanges("8"), 7), std::vector<int>{});
}

TEST(PageRangesTest, AnythingElseIsAnError) {
  for (const char* text : {"", "0", "-3", "a", "1,", "5-1", "1-2-3", "1 ", "99999999999", "+1"}) {
    EXPECT_THROW(ParsePageRanges(text), Error) << text;
  }
}

}  // namespace
}  // namespace platen
