// What is said of calls to a file system that does not answer.
#include "apps/platen/cli/file_watch.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(FileWaits, SaysItAfterAMinuteThenWhenTheWaitHasDoubledAndWhenItIsOver) {
  FileWaits waits;
  const FileCall::Waiting write{"/mnt/out/a.txt", 100 * kSecond};
  const auto said = [&](int64_t s) { return waits.Say(write, s * kSecond).value_or(""); };
  EXPECT_EQ(waits.Say(std::nullopt, 90 * kSecond), std::nullopt);
  EXPECT_EQ(said(159), "");
  EXPECT_EQ(said(160),
            "/mnt/out/a.txt: the file system has not answered for 60 s; the run waits for it, and "
            "goes on when it answers");
  EXPECT_EQ(said(219), "");
  EXPECT_NE(said(221), "");
  EXPECT_EQ(said(339), "");
  EXPECT_NE(said(340), "");
  EXPECT_EQ(waits.Say(std::nullopt, 341 * kSecond),
            "/mnt/out/a.txt: the file system answers again");
  EXPECT_EQ(waits.Say(std::nullopt, 342 * kSecond), std::nullopt);
}

TEST(FileWaits, AnotherCallIsWaitedForAnew) {
  FileWaits waits;
  EXPECT_NE(waits.Say(FileCall::Waiting{"a", 0}, 60 * kSecond), std::nullopt);
  EXPECT_EQ(waits.Say(FileCall::Waiting{"b", 60 * kSecond}, 61 * kSecond),
            "a: the file system answers again");
  EXPECT_EQ(waits.Say(FileCall::Waiting{"b", 60 * kSecond}, 119 * kSecond), std::nullopt);
  EXPECT_NE(waits.Say(FileCall::Waiting{"b", 60 * kSecond}, 120 * kSecond), std::nullopt);
}

TEST(FileWatch, EndsAtOnce) { const FileWatch watch; }

}  // namespace
}  // namespace platen
