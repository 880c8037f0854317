// A round in the middle of decoding takes no memory: whatever it needs is there from the rounds
// before. (The worker pool keeps its tasks in memory of its own.)
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/support/golden.h"

namespace {

std::atomic<bool> counting = false;
std::atomic<int64_t> allocations = 0;

void* Allocate(std::size_t bytes) {
  if (counting) ++allocations;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes); }
void* operator new[](std::size_t bytes) { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace platen::testing {
namespace {

// Rounds of 10 to 59 of three sequences that allocated, after an engine has read three like them:
// it has seen batches of every size and contexts as long.
int RoundsThatAllocate(const EngineOptions& options, const Request& like) {
  const Model& model = GoldenModel("tiny-a", Precision::kInt8);
  Engine engine(model, options);
  for (int i = 0; i < 3; ++i) Start(engine, like);
  while (engine.live() > 0) engine.Step();
  for (int i = 0; i < 3; ++i) Start(engine, like);
  for (int i = 0; i < 10; ++i) engine.Step();
  int rounds = 0;
  for (int i = 0; i < 50; ++i) {
    allocations = 0;
    counting = true;
    const bool nobody_finished = engine.Step().empty();
    counting = false;
    EXPECT_TRUE(nobody_finished) << "an answer ended in round " << i;
    rounds += allocations > 0 ? 1 : 0;
  }
  return rounds;
}

Request LongRequest() {
  const Model& model = GoldenModel("tiny-a", Precision::kInt8);
  Request request = GoldenRequest(model, GoldenCase("tests/golden/cases/tiny-a/tiny20"));
  request.max_new_tokens = 800;
  request.ignore_stop = true;
  return request;
}

TEST(Allocation, ARoundTakesNoMemory) {
  const Request request = LongRequest();
  for (const int draft_length : {0, 3, 8}) {
    for (const bool adaptive : {false, true}) {
      EngineOptions options;
      options.draft_length = draft_length;
      options.adaptive_drafts = adaptive;
      // What an adaptive round does depends on the clock: one may be larger than any before.
      EXPECT_LE(RoundsThatAllocate(options, request), adaptive ? 3 : 0)
          << draft_length << " drafts, adaptive " << adaptive;
    }
  }
}

TEST(Allocation, IsNoticed) {
  EngineOptions options;
  options.draft_length = 0;
  options.instruments.on_round = [](const Round&) {};  // makes copies of what happened
  EXPECT_EQ(RoundsThatAllocate(options, LongRequest()), 50);
}

}  // namespace
}  // namespace platen::testing
