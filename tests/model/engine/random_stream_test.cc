#include "model/engine/random_stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace platen {
namespace {

// Known answers of the authors' library (Random123, kat_vectors).
TEST(Philox, GivesThePublishedNumbers) {
  constexpr uint32_t kOnes = 0xffffffffU;
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(NoiseAt, DependsOnItsAddressAndNothingElse) {
  NoiseAt forward(7, 3, Noise::kPlain), backward(7, 3, Noise::kPlain);
  std::vector<double> a, b;
  for (uint32_t i = 0; i < 100; ++i) a.push_back(forward.Uniform(i));
  for (uint32_t i = 100; i-- > 0;) b.insert(b.begin(), backward.Uniform(i));
  EXPECT_EQ(a, b);
  std::set<double> distinct(a.begin(), a.end());
  distinct.insert(NoiseAt(8, 3, Noise::kPlain).Uniform(0));
  distinct.insert(NoiseAt(uint64_t{7} << 32, 3, Noise::kPlain).Uniform(0));
  distinct.insert(NoiseAt(7, 4, Noise::kPlain).Uniform(0));
  distinct.insert(NoiseAt(7, 3, Noise::kAccept).Uniform(0));
  distinct.insert(NoiseAt(7, 3, Noise::kResidual).Uniform(0));
  distinct.insert(NoiseAt(7, 3, Noise::kDraft).Uniform(0));
  EXPECT_EQ(distinct.size(), 106U);
}

TEST(NoiseAt, IsUniformBetweenZeroAndOneAndNeverEither) {
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int place = 0; place < kDraws; ++place) {
    const double u = NoiseAt(1, place, Noise::kPlain).Uniform(5);
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.005);
}

TEST(RequestSeed, DiffersByRunAndByWhatIsRead) {
  std::set<uint64_t> seeds;
  for (const uint64_t run : {0, 1}) {
    for (const char* identity : {"", "a.tif/1/0/0", "a.tif/1/0/1", "a.tif/10/0"}) {
      seeds.insert(RequestSeed(run, identity));
    }
  }
  EXPECT_EQ(seeds.size(), 8U);
  // Kept results depend on it.
  EXPECT_EQ(RequestSeed(0, "a.tif/1/0/0"), RequestSeed(0, std::string("a.tif/1/0/0")));
}

}  // namespace
}  // namespace platen
