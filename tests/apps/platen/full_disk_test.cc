// A disk that is full, or a limit on the size of files, at any moment of a run: it ends with exit
// code 3 and a reason, never with a crash, and the same command finishes the work when there is
// room again.
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Outputs;
using testing::ProgramResult;
using testing::ReadFile;

bool LongTests() {
  const char* value = std::getenv("PLATEN_LONG_TESTS");
  return value != nullptr && *value == '1';
}

class FullDiskTest : public testing::OcrFixture {
 protected:
  FullDiskTest() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    sanitized_ = true;  // the sanitizer's runtime must be loaded before any other library
#endif
    CopySample("synthetic/receipt-200.png", "in/1.png");
    CopySample("pages/phototest.tif", "in/2.tif");
    fs::copy_file(testing::SourcePath("tests/data/images/three_pages.tif"), folder_ / "in/3.tif");
    EXPECT_EQ(Ocr({"in", "-o", "whole"}).exit_code, 0);
    expected_ = Outputs(folder_ / "whole");
  }

  // A run on a disk that is full from call number `at` on; 0: never.
  ProgramResult RunOnFullDisk(long at, const std::string& threads) {
    return Ocr({"in", "-o", "out", "--threads", threads, "-q"}, "",
               {"LD_PRELOAD=" PLATEN_FULL_DISK, "FULL_DISK_BELOW=" + folder_ / "out",
                "FULL_DISK_AT=" + std::to_string(at), "FULL_DISK_COUNT=" + folder_ / "count"});
  }

  void ExpectReasonOrSuccess(const ProgramResult& result, const std::string& reason,
                             const std::string& where) {
    if (result.exit_code == 0) return;  // there was room for everything
    EXPECT_EQ(result.exit_code, 3) << where << ": " << result.err;
    EXPECT_TRUE(Contains(result.err, reason)) << where << ": " << result.err;
  }

  // The same command, with room.
  void ExpectTheRestIsDone(const std::string& out, const std::string& where) {
    const ProgramResult result = Ocr({"in", "-o", out, "-q"});
    EXPECT_EQ(result.exit_code, 0) << where << ": " << result.err;
    EXPECT_TRUE(Outputs(folder_ / out) == expected_) << where;
  }

  bool sanitized_ = false;
  std::map<std::string, std::string> expected_;
};

TEST_F(FullDiskTest, EveryCallThatNeedsRoomMayFail) {
  if (sanitized_) GTEST_SKIP() << "cannot be preloaded beside a sanitizer";
  ASSERT_EQ(RunOnFullDisk(0, "2").exit_code, 0);
  const long calls = std::atol(ReadFile(folder_ / "count").c_str());
  ASSERT_GT(calls, 50);
  fs::remove_all(folder_ / "out");
  const ProgramResult middle = RunOnFullDisk(calls / 2, "1");
  EXPECT_TRUE(Contains(middle.err, "the same command does the rest")) << middle.err;
  // All of them in the long tier; every sixth, from a random one on, in the quick one.
  const long step = LongTests() ? 1 : 6;
  const long first = 1 + static_cast<long>(std::random_device{}() % static_cast<unsigned>(step));
  int runs = 0;
  for (const char* threads : {"1", "2", "3"}) {
    if (!LongTests() && threads[0] != '2') continue;
    for (long at = first; at <= calls; at += step, ++runs) {
      fs::remove_all(folder_ / "out");
      const std::string where = "call " + std::to_string(at) + ", " + threads + " threads";
      const ProgramResult result = RunOnFullDisk(at, threads);
      EXPECT_NE(result.exit_code, 0) << where;
      ExpectReasonOrSuccess(result, "No space left on device", where);
      ExpectTheRestIsDone("out", where);
    }
  }
  std::printf("%d runs on a disk that is full from one of %ld calls on\n", runs, calls);
}

// Many pages are decoded together when the disk refuses one of them: decoding must not go on with
// what loops have left undone.
TEST_F(FullDiskTest, ManyPagesInFlight) {
  if (sanitized_) GTEST_SKIP() << "cannot be preloaded beside a sanitizer";
  for (int i = 0; i < 40; ++i)
    CopySample("pages/phototest.tif", "in/x" + std::to_string(i) + ".tif");
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const int runs = LongTests() ? 200 : 6;
  for (int i = 0; i < runs; ++i) {
    fs::remove_all(folder_ / "out");
    const long at = 5 + static_cast<long>(random() % 400);
    const ProgramResult result = RunOnFullDisk(at, std::to_string(2 + random() % 3));
    EXPECT_EQ(result.exit_code, 3) << "call " << at << ": " << result.err;
    EXPECT_TRUE(Contains(result.err, "No space left on device")) << result.err;
  }
  std::printf("%d runs with many pages in flight\n", runs);
}

TEST_F(FullDiskTest, ARealFileSystemThatIsTooSmall) {
  const std::string disk = folder_ / "disk";
  fs::create_directory(disk);
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const int runs = LongTests() ? 300 : 6;
  for (int i = 0; i < runs; ++i) {
    const std::string options = "size=" + std::to_string(4 + random() % 90) + "k";
    if (::mount("none", disk.c_str(), "tmpfs", 0, options.c_str()) != 0) {
      GTEST_SKIP() << "mounting a file system needs root";
    }
    const ProgramResult result = Ocr({"in", "-o", "disk/out", "-q"});
    ExpectReasonOrSuccess(result, "No space left on device", options);
    ::mount("none", disk.c_str(), "tmpfs", MS_REMOUNT, "size=10m");
    ExpectTheRestIsDone("disk/out", options);
    EXPECT_EQ(::umount2(disk.c_str(), MNT_DETACH), 0);
  }
  std::printf("%d runs on file systems of 4 to 94 KiB\n", runs);
}

// Nothing of it is kept.
TEST_F(FullDiskTest, StandardOutputThatIsFullPromisesNothing) {
  const std::string command =
      "cd '" + folder_.path() + "' && " PLATEN_PROGRAM " ocr in/2.tif > /dev/full 2> error";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  const std::string error = ReadFile(folder_ / "error");
  EXPECT_TRUE(Contains(error, "No space left on device")) << error;
  EXPECT_FALSE(Contains(error, "kept")) << error;
}

TEST_F(FullDiskTest, ALimitOnTheSizeOfFilesIsAReasonToo) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  // Not less: what the program prints goes to files as well, and must fit.
  for (const rlim_t limit : {rlim_t{1000}, rlim_t{4000}, rlim_t{10000}}) {
    const rlimit lower = {limit, before.rlim_max};
    fs::remove_all(folder_ / "out");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &lower), 0);
    const ProgramResult result = Ocr({"in", "-o", "out", "-q"});
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_TRUE(Contains(result.err, "File too large")) << result.err;
    ExpectTheRestIsDone("out", std::to_string(limit));
  }
}

}  // namespace
}  // namespace platen
