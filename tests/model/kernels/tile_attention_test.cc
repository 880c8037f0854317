// The code for AMX over tiles in software: the bits of the meaning, as every table's. What is left
// to a machine with AMX is that its tiles do what the manual says, and how fast.
#include <gtest/gtest.h>

#if defined(PLATEN_X86_KERNELS)

#include "tests/model/kernels/emulated_tile_attention.h"
#include "tests/model/kernels/quantized_head.h"
#include "tests/support/plain_attention_int8.h"

namespace platen {
namespace {

using testing::PlainAttentionInt8;

TEST(TileAttention, GivesTheBitsOfItsMeaning) {
  const KernelTable* vnni = FindKernels("avx512-vnni");
  if (vnni == nullptr) GTEST_SKIP() << "the code between the tiles needs AVX-512 VNNI";
  unsigned seed = 1;
  for (const int n : {1, 15, 16, 17, 63, 64, 65, 80, 193, 255, 256, 257, 513}) {
    for (const int d : {4, 6, 16, 20, 32, 40, 64, 128, 256}) {
      const Head head = RandomHead(n, d, ++seed);
      QuantizedHead quantized(*vnni, head);
      ASSERT_TRUE(TilesTake(quantized.job.depth()));
      AttentionInt8OnEmulatedTiles(quantized.job);
      const PlainAttentionInt8 plain(n, d, head.k.data(), head.v.data(), head.scale());
      std::vector<float> expected(static_cast<size_t>(d));
      for (int i = 0; i < n; i += 1 + n / 30) {
        plain.Attend(head.q.data() + ptrdiff_t{i} * d, expected.data());
        ASSERT_TRUE(SameBits(expected.data(), quantized.result.data() + ptrdiff_t{i} * d, d))
            << "n " << n << ", d " << d << ", row " << i;
      }
    }
  }
}

TEST(TileAttention, LeavesWidthsToOthersThatNoTileFits) {
  for (const int depth : {68, 72, 80, 96, 132}) EXPECT_FALSE(TilesTake(depth)) << depth;
}

}  // namespace
}  // namespace platen

#endif
