// Aligned memory for matrices.
#include "model/support/large_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace platen {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kOwnMapping = size_t{32} << 10;

uintptr_t AddressOf(const void* p) { return reinterpret_cast<uintptr_t>(p); }

struct Free {
  size_t bytes = 0;
  void operator()(void* p) const { FreeLarge(p, bytes); }
};

TEST(LargeMemory, BeginsAtACacheLineAndLargePiecesAtAHugePage) {
  for (const size_t bytes : {size_t{1}, size_t{65}, kOwnMapping - 1, kOwnMapping, kHugePage - 1,
                             kHugePage, kHugePage + 1, 3 * kHugePage + 5}) {
    const std::unique_ptr<void, Free> memory(AllocateLarge(bytes), Free{bytes});
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(AddressOf(memory.get()) % (bytes < kHugePage ? 64 : kHugePage), 0U) << bytes;
    std::memset(memory.get(), 1, bytes);
  }
}

TEST(LargeMemory, NothingIsAllowed) { FreeLarge(AllocateLarge(0), 0); }

// Only sizes that cannot be rounded up: what the system refuses, a sanitizer's allocator ends at.
TEST(LargeMemory, MoreThanCanBeAddressedThrows) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  for (const size_t bytes : {kMost, kMost - 1, kMost - kHugePage + 1}) {
    EXPECT_THROW(AllocateLarge(bytes), std::bad_alloc) << bytes;
  }
}

TEST(LargeMemory, SharedPiecesLieOneBehindAnother) {
  const std::shared_ptr<std::byte> first = AllocateShared(65);
  const std::shared_ptr<std::byte> second = AllocateShared(64);
  const std::shared_ptr<std::byte> third = AllocateShared(1);
  EXPECT_EQ(AddressOf(first.get()) % 64, 0U);
  EXPECT_EQ(second.get() - first.get(), 128);
  EXPECT_EQ(third.get() - second.get(), 64);
}

// More than a chunk of them, each filled; some are freed before their neighbours.
TEST(LargeMemory, SharedPiecesKeepWhatTheyHold) {
  std::vector<std::shared_ptr<std::byte>> pieces;
  std::vector<size_t> sizes;
  for (size_t i = 0; i < 40; ++i) {
    sizes.push_back(i % 7 == 0 ? 2 * kHugePage + i : i * 31337);
    pieces.push_back(AllocateShared(sizes.back()));
    std::memset(pieces.back().get(), static_cast<int>(i), sizes.back());
    if (i % 3 == 2) pieces[i - 1].reset();
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i] == nullptr) continue;
    for (size_t at = 0; at < sizes[i]; ++at) ASSERT_EQ(pieces[i].get()[at], std::byte(i)) << i;
  }
}

TEST(LargeMemory, MoreSharedMemoryThanCanBeAddressedThrows) {
  EXPECT_THROW(AllocateShared(std::numeric_limits<size_t>::max()), std::bad_alloc);
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
