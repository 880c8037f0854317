// Calls that do not come back cost their caller's patience and nothing else.
#include "stages/readers/left_behind.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "model/support/error.h"

namespace platen {
namespace {

constexpr double kLong = 100, kShort = 0.02;

TEST(ComesBackTest, ACallIsMadeByAnotherThread) {
  for (int i = 0; i < 100; ++i) {
    std::thread::id caller;
    ASSERT_TRUE(ComesBack([&] { caller = std::this_thread::get_id(); }, kLong));
    EXPECT_NE(caller, std::this_thread::get_id());
    EXPECT_NE(caller, std::thread::id());
  }
}

TEST(ComesBackTest, ManyThreadsHaveACallerEach) {
  std::atomic<int> sum = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        auto value = std::make_shared<int>(0);
        if (ComesBack([value] { *value = 1; }, kLong)) sum += *value;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 1600);
}

// Blocks calls until it is opened.
class Gate {
 public:
  std::function<void()> Call() {
    return [open = open_] { open.wait(); };
  }
  void Open() { promise_.set_value(); }

 private:
  std::promise<void> promise_;
  std::shared_future<void> open_ = promise_.get_future().share();
};

bool IsRefused() {
  try {
    return !ComesBack([] {}, kLong);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kEnvironment);
    return true;
  }
}

TEST(ComesBackTest, WhatDoesNotIsLeftBehindAndManyAreRefused) {
  Gate gate;
  for (int i = 0; i < kMostLeftBehind; ++i) {
    EXPECT_FALSE(IsRefused()) << i;
    EXPECT_FALSE(ComesBack(gate.Call(), kShort)) << i;
  }
  EXPECT_TRUE(IsRefused());
  gate.Open();
  while (IsRefused()) std::this_thread::yield();  // until they have come back after all
}

TEST(ComesBackTest, WhatACallOwnsLivesAsLongAsTheCall) {
  Gate gate;
  auto bytes = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = bytes;
  EXPECT_FALSE(ComesBack(
      [bytes, wait = gate.Call()] {
        wait();
        ++*bytes;
      },
      kShort));
  bytes.reset();
  EXPECT_FALSE(watched.expired());
  gate.Open();
  while (!watched.expired()) std::this_thread::yield();
}

}  // namespace
}  // namespace platen
