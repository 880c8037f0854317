// What a run does in folders that belong to somebody else. As root nothing is forbidden: the
// program is then run as nobody.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::ReadFile;

class PermissionsTest : public testing::OcrFixture {
 protected:
  void SetUp() override {
    ::chmod(folder_.path().c_str(), 0755);
    CopySample("pages/phototest.tif", "a.tif");
    fs::create_directory(folder_ / "out");
    ::chmod((folder_ / "out").c_str(), 0777);
    if (Run("help") != 0) GTEST_SKIP() << "nobody cannot run the program";
  }

  // Exit code; what it says is in `said_`.
  int Run(const std::string& words) {
    const std::string as_nobody =
        ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    const std::string command = "cd '" + folder_.path() + "' && " + as_nobody + PLATEN_PROGRAM +
                                " " + words + " > '" + (folder_ / "said") + "' 2>&1";
    const int status = std::system(command.c_str());
    said_ = ReadFile(folder_ / "said");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string said_;
};

TEST_F(PermissionsTest, AFolderThatCannotBeWrittenToEndsTheRunBeforeItReads) {
  ::chmod((folder_ / "out").c_str(), 0555);
  EXPECT_EQ(Run("ocr a.tif -o out"), 3);
  EXPECT_TRUE(Contains(said_, "out: the folder cannot be written to")) << said_;
}

TEST_F(PermissionsTest, StateThatBelongsToAnotherEndsTheRunAndCanBeLookedAt) {
  EXPECT_EQ(Run("ocr a.tif -o out"), 0);
  ::chmod((folder_ / "out/.platen/lock").c_str(), 0444);
  if (::geteuid() == 0) {
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "out")) {
      ASSERT_EQ(::chown(entry.path().c_str(), 0, 0), 0);
    }
  }
  const auto before = testing::Outputs(folder_ / "out");
  EXPECT_EQ(Run("ocr a.tif -o out --force"), 3);
  EXPECT_TRUE(Contains(said_, "out/.platen/lock: ")) << said_;
  EXPECT_EQ(testing::Outputs(folder_ / "out"), before);
  EXPECT_EQ(Run("status out"), 0) << said_;
  EXPECT_EQ(Run("report out"), 0) << said_;
  EXPECT_EQ(Run("ocr a.tif -o out --dry-run"), 0) << said_;
  EXPECT_TRUE(Contains(said_, "; 1 finished before")) << said_;
}

TEST_F(PermissionsTest, StateWithoutPermissionsIsNamed) {
  EXPECT_EQ(Run("ocr a.tif -o out"), 0);
  for (const char* name : {"ledger.jsonl", "lock", "runs", "tmp", "results"}) {
    const std::string place = std::string("out/.platen/") + name;
    const mode_t mode = fs::is_directory(folder_ / place) ? 0755 : 0644;
    ::chmod((folder_ / place).c_str(), 0);
    EXPECT_EQ(Run("ocr a.tif -o out --force"), 3) << name;
    EXPECT_TRUE(Contains(said_, place + ": cannot ")) << said_;
    for (const char* command : {"export out --format hocr", "status out", "report out",
                                "clean out --dry-run", "ocr a.tif -o out --dry-run"}) {
      const int code = Run(command);
      EXPECT_TRUE(code == 0 || code == 3) << command << " " << code;
      EXPECT_EQ(code == 3, Contains(said_, place + ": cannot ")) << command << ": " << said_;
    }
    ::chmod((folder_ / place).c_str(), mode);
  }
  EXPECT_EQ(Run("ocr a.tif -o out"), 0) << said_;
  EXPECT_TRUE(Contains(said_, "was finished before")) << said_;
}

TEST_F(PermissionsTest, InputsThatCannotBeReadFailByThemselves) {
  fs::create_directories(folder_ / "in/closed");
  fs::copy_file(folder_ / "a.tif", folder_ / "in/a.tif");
  fs::copy_file(folder_ / "a.tif", folder_ / "in/secret.tif");
  ::chmod((folder_ / "in/closed").c_str(), 0);
  ::chmod((folder_ / "in/secret.tif").c_str(), 0);
  EXPECT_EQ(Run("ocr in -o out"), 1);
  ::chmod((folder_ / "in/closed").c_str(), 0755);
  EXPECT_EQ(Report()["failure_reasons"], (nlohmann::json{{"unreadable", 2}})) << said_;
  EXPECT_TRUE(Exists("out/in/a.tif.txt"));
}

// It can be listed, but what its entries are is not said: a folder of scans among them is not left
// out in silence.
TEST_F(PermissionsTest, EntriesOfWhichNothingIsKnownFail) {
  fs::create_directories(folder_ / "in/listed/scans");
  fs::copy_file(folder_ / "a.tif", folder_ / "in/listed/scan");
  fs::copy_file(folder_ / "a.tif", folder_ / "in/a.tif");
  ::chmod((folder_ / "in/listed").c_str(), 0444);
  EXPECT_EQ(Run("ocr in -o out"), 1);
  ::chmod((folder_ / "in/listed").c_str(), 0755);
  EXPECT_EQ(Report()["failure_reasons"], (nlohmann::json{{"unreadable", 2}})) << said_;
  EXPECT_TRUE(Contains(said_, "in/listed/scans: cannot be looked at: Permission denied")) << said_;
  EXPECT_TRUE(Exists("out/in/a.tif.txt"));
}

}  // namespace
}  // namespace platen
