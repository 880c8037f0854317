// The exponential of attention in exact integers: every instruction set gives what its meaning
// gives, for all floats from -40 to 0 and for some below.
#include "tests/model/kernels/int8_exponential.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "model/kernels/kernels.h"
#include "tests/support/plain_attention_int8.h"

namespace platen {
namespace {

using testing::PlainAttentionInt8;
using Exponential = void (*)(const float* x, int n, float* e);

std::vector<Exponential> Exponentials() {
  std::vector<Exponential> all = {Int8ExponentialScalar};
#if defined(PLATEN_X86_KERNELS)
  if (FindKernels("avx2") != nullptr) all.push_back(Int8ExponentialAvx2);
  if (FindKernels("avx512") != nullptr) all.push_back(Int8ExponentialAvx512);
#endif
  return all;
}

void ExpectMeaning(const std::vector<float>& x, const std::vector<Exponential>& all) {
  std::vector<float> e(x.size());
  for (size_t which = 0; which < all.size(); ++which) {
    all[which](x.data(), static_cast<int>(x.size()), e.data());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(e[i], static_cast<float>(PlainAttentionInt8::Exponential(x[i])))
          << "set " << which << ", x " << x[i];
    }
  }
}

// Every 211th float; all of them, some minutes, with PLATEN_LONG_TESTS set.
TEST(Int8Exponential, EverySetGivesItsMeaning) {
  constexpr size_t kAtOnce = 1 << 16;
  const uint32_t step = std::getenv("PLATEN_LONG_TESTS") != nullptr ? 1 : 211;
  const std::vector<Exponential> all = Exponentials();
  const auto last = std::bit_cast<uint32_t>(-42.0F);
  std::vector<float> x;
  for (uint32_t bits = std::bit_cast<uint32_t>(-0.0F); bits <= last; bits += step) {
    x.push_back(std::bit_cast<float>(bits));
    if (x.size() < kAtOnce && bits + step <= last) continue;
    x.resize((x.size() + 15) / 16 * 16);  // zeros
    ExpectMeaning(x, all);
    if (HasFatalFailure()) return;
    x.clear();
  }
}

TEST(Int8Exponential, IsExactAtTheMaximumAndNothingFarBelow) {
  std::vector<float> x = {0.0F, -0.0F, -40.0F, -41.0F, -1e3F, -1e9F, -3e38F, -1.0F};
  x.resize(16, -1e-45F);
  ExpectMeaning(x, Exponentials());
  EXPECT_EQ(PlainAttentionInt8::Exponential(0.0F), 32640);
  EXPECT_EQ(PlainAttentionInt8::Exponential(-1.0F), 16320);
  EXPECT_EQ(PlainAttentionInt8::Exponential(-3e38F), 0);
}

}  // namespace
}  // namespace platen
