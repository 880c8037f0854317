// Figures as files of their own.
#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Outputs;
using testing::ReadFile;

class Images : public testing::OcrFixture {
 protected:
  // A page with a photo, in a folder whose name a URL cannot have.
  void SetUp() override {
    fs::create_directories(folder_ / "in/a (1)");
    fs::copy_file(testing::SourcePath("tests/data/pictures/photo_page.jpg"),
                  folder_ / "in/a (1)/p.png");
  }
};

TEST_F(Images, AreWrittenBesideTheOutputsThatNameThem) {
  ASSERT_EQ(Ocr({"in", "-o", "out", "--images", "figures", "-j", "1"}).exit_code, 0);
  const auto first = Outputs(folder_ / "out");
  const std::string name = "figures/in/a (1)/p.png/p1-1.png";
  ASSERT_TRUE(first.contains(name));
  EXPECT_TRUE(first.at(name).starts_with("\x89PNG"));
  EXPECT_TRUE(
      Contains(first.at("in/a (1)/p.png.md"), "![](../../figures/in/a%20%281%29/p.png/p1-1.png)"));
  EXPECT_TRUE(
      Contains(first.at("in/a (1)/p.png.json"), "\"../../figures/in/a%20%281%29/p.png/p1-1.png\""));
  // The same bytes at another time, with other threads; and what is finished is finished.
  ASSERT_EQ(Ocr({"in", "-o", "again", "--images", "figures", "-j", "2"}).exit_code, 0);
  EXPECT_EQ(Outputs(folder_ / "again"), first);
  ASSERT_EQ(Ocr({"in", "-o", "out", "--images", "figures"}).exit_code, 0);
  EXPECT_EQ(Report()["totals"]["pages_read"], 0);
}

TEST_F(Images, AreMadeOfPagesThatWereReadWithoutThem) {
  ASSERT_EQ(Ocr({"in", "-o", "out"}).exit_code, 0);
  EXPECT_FALSE(Exists("out/figures"));
  ASSERT_EQ(Ocr({"in", "-o", "out", "--images", "figures"}).exit_code, 0);
  EXPECT_TRUE(Exists("out/figures/in/a (1)/p.png/p1-1.png"));
}

TEST_F(Images, AreNeverWrittenThroughALink) {
  fs::create_directories(folder_ / "out");
  fs::create_directories(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "out/figures");
  const auto run = Ocr({"in", "-o", "out", "--images", "figures"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/failures.jsonl"), "its picture cannot be written"));
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/in/a (1)/p.png.txt"), "committee"))
      << "the text is kept";
}

TEST_F(Images, StandBelowTheOutputFolder) {
  for (const char* folder : {"/tmp", "../up", "a/../..", "./", ".platen"}) {
    EXPECT_EQ(Ocr({"in", "-o", "out", "--images", folder}).exit_code, 2) << folder;
  }
  EXPECT_EQ(Ocr({"in/a (1)/p.png", "--images", "figures"}).exit_code, 2) << "printed";
  EXPECT_FALSE(Exists("out"));
}

}  // namespace
}  // namespace platen
