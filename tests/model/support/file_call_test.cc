// Which calls to a file system are going on.
#include "model/support/file_call.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "model/support/clock.h"

namespace platen {
namespace {

std::string LongestPath() {
  const auto waiting = FileCall::Longest();
  return waiting ? waiting->path : "";
}

TEST(FileCall, TheEarliestIsTheLongest) {
  const std::string path = "out", other = "in/a.tif";
  EXPECT_EQ(LongestPath(), "");
  std::optional<FileCall> first(std::in_place, path, "a.txt");
  const int64_t now_ns = MonotonicNs();
  std::optional<FileCall> second(std::in_place, other);
  std::optional<FileCall> third(std::in_place, path);
  EXPECT_EQ(LongestPath(), "out/a.txt");
  EXPECT_LE(FileCall::Longest()->since_ns, now_ns);
  second.reset();
  EXPECT_EQ(LongestPath(), "out/a.txt");
  first.reset();
  EXPECT_EQ(LongestPath(), "out");
  std::optional<FileCall> fourth(std::in_place, other);
  third.reset();
  EXPECT_EQ(LongestPath(), "in/a.tif");
  fourth.reset();
  EXPECT_EQ(LongestPath(), "");
}

TEST(FileCall, ManyThreadsAtATime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      const std::string path = "out/" + std::to_string(i);
      for (int round = 0; round < 10'000; ++round) {
        const FileCall call(path);
        const FileCall inner(path, "a");
        EXPECT_NE(FileCall::Longest(), std::nullopt);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(LongestPath(), "");
}

}  // namespace
}  // namespace platen
