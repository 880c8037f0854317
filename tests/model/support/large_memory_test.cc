// Aligned memory for matrices.
#include "model/support/large_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace platen {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

uintptr_t AddressOf(const void* p) { return reinterpret_cast<uintptr_t>(p); }

struct Free {
  void operator()(void* p) const { std::free(p); }
};

TEST(LargeMemory, BeginsAtACacheLineAndLargePiecesAtAHugePage) {
  for (const size_t bytes :
       {size_t{1}, size_t{65}, kHugePage - 1, kHugePage, kHugePage + 1, 3 * kHugePage + 5}) {
    const std::unique_ptr<void, Free> memory(AllocateLarge(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(AddressOf(memory.get()) % (bytes < kHugePage ? 64 : kHugePage), 0U) << bytes;
    std::memset(memory.get(), 1, bytes);
  }
}

TEST(LargeMemory, NothingIsAllowed) { std::free(AllocateLarge(0)); }

// Only sizes that cannot be rounded up: what the system refuses, a sanitizer's allocator ends at.
TEST(LargeMemory, MoreThanCanBeAddressedThrows) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  for (const size_t bytes : {kMost, kMost - 1, kMost - kHugePage + 1}) {
    EXPECT_THROW(AllocateLarge(bytes), std::bad_alloc) << bytes;
  }
}

TEST(LargeMemory, AVectorOfItKeepsWhatItHolds) {
  std::vector<int8_t, LargeAllocator<int8_t>> values(3, 7);
  values.resize(2 * kHugePage, 5);
  EXPECT_EQ(AddressOf(values.data()) % kHugePage, 0U);
  EXPECT_EQ(values[2], 7);
  EXPECT_EQ(values[3], 5);
  EXPECT_EQ(values.back(), 5);
}

}  // namespace
}  // namespace platen
