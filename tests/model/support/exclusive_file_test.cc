// Files that one of many processes makes.
#include "model/support/exclusive_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::ReadFile;
using testing::TempFolder;

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

class ExclusiveFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<ExclusiveFile> Begin(ExclusiveFile::Waiting waiting = {}) {
    return ExclusiveFile::Begin(path_, waiting);
  }
  bool Exists(const std::string& path) { return std::filesystem::exists(path); }

  TempFolder folder_;
  const std::string path_ = folder_ / "file";
};

TEST_F(ExclusiveFileTest, AppearsWithItsWholeContentAtCommit) {
  {
    const auto file = Begin();
    file->Write(3, Bytes("def"));
    file->Write(0, Bytes("abc"));
    EXPECT_FALSE(Exists(path_));
    file->Commit();
  }
  EXPECT_EQ(ReadFile(path_), "abcdef");
  EXPECT_FALSE(Exists(path_ + ".tmp"));
}

TEST_F(ExclusiveFileTest, WithoutCommitEverythingIsAsBefore) {
  folder_.Write("file", "before");
  Begin()->Write(0, Bytes("after"));
  EXPECT_EQ(ReadFile(path_), "before");
  EXPECT_FALSE(Exists(path_ + ".tmp"));
}

TEST_F(ExclusiveFileTest, WhatADeadProcessLeftIsWrittenOver) {
  folder_.Write("file.tmp", "much longer than what comes now");
  const auto file = Begin();
  file->Write(0, Bytes("new"));
  file->Commit();
  EXPECT_EQ(ReadFile(path_), "new");
}

TEST_F(ExclusiveFileTest, TheOneThatWaitedIsToldToLookAgainAndHarmsNothing) {
  auto winner = Begin();
  winner->Write(0, Bytes("winner"));
  std::atomic<int> waits = 0;
  ExclusiveFile::Waiting waiting;
  waiting.begins = [&] { ++waits; };
  std::thread loser([&] { EXPECT_EQ(Begin(waiting), nullptr); });
  while (waits == 0) std::this_thread::yield();
  winner->Commit();
  winner.reset();
  loser.join();
  EXPECT_EQ(waits, 1);
  EXPECT_EQ(ReadFile(path_), "winner");
}

TEST_F(ExclusiveFileTest, WaitingEnds) {
  const auto holder = Begin();
  ExclusiveFile::Waiting waiting;
  waiting.longest = std::chrono::milliseconds(1);
  EXPECT_THROW(Begin(waiting), Error);
  EXPECT_TRUE(Exists(path_ + ".tmp"));  // the holder's
}

TEST_F(ExclusiveFileTest, PlacesThatCannotBeWrittenToAreErrors) {
  folder_.Write("no-folder", "");
  EXPECT_THROW(ExclusiveFile::Begin(folder_ / "no-folder/file", {}), Error);
  EXPECT_THROW(ExclusiveFile::Begin(folder_ / "missing/file", {}), Error);
  std::filesystem::create_directory(path_ + ".tmp");
  EXPECT_THROW(Begin(), Error);
}

TEST_F(ExclusiveFileTest, AFullDiskIsAnErrorThatLeavesNothing) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit = {};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit small = {1000, old_limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  {
    const auto file = Begin();
    EXPECT_THROW(file->Write(0, Bytes(std::string(5000, 'x'))), Error);
  }
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  EXPECT_FALSE(Exists(path_));
  EXPECT_FALSE(Exists(path_ + ".tmp"));
}

// Every child keeps making the file; readers never see a half-written one.
TEST_F(ExclusiveFileTest, ManyProcessesNeverSpoilEachOthersFile) {
  const std::string block(200'000, 'x');
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid != 0) {
      children.push_back(pid);
      continue;
    }
    for (int i = 0; i < 20; ++i) {
      const auto file = Begin();
      if (file != nullptr) {
        for (uint64_t at = 0; at < 5; ++at) file->Write(at * block.size(), Bytes(block));
        file->Commit();
      }
      if (std::filesystem::file_size(path_) != 5 * block.size()) ::_exit(1);
    }
    ::_exit(0);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_FALSE(Exists(path_ + ".tmp"));
}

}  // namespace
}  // namespace platen
