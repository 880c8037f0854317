// Attention of an image encoder over a batch of images: what arrives in pieces, in any order, gives
// for every image and head what that image gives alone.
#include "model/ops/encoder_attention.h"

#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/plain_attention_int8.h"

namespace platen {
namespace {

constexpr int kHeads = 3;
constexpr int64_t kSizes[] = {1, 63, 300, 64, 65, 17, 256, 4};

struct Batch {
  int d;
  int64_t patches = 0;
  std::vector<ImageRows> images;
  Mat q[kHeads], k[kHeads], v[kHeads];  // [patches][d]

  explicit Batch(int head_dim) : d(head_dim) {
    for (const int64_t size : kSizes) {
      images.push_back({patches, size});
      patches += size;
    }
    std::mt19937 rng(static_cast<unsigned>(d));
    std::normal_distribution<float> normal;
    for (auto* heads : {&q, &k, &v}) {
      for (Mat& head : *heads) {
        head.Resize(patches, d);
        for (float& x : head.span()) x = normal(rng);
      }
    }
  }
};

// One head of q (0), k (1) or v (2) of some patches.
struct Piece {
  int what, head;
  int64_t first, count;
};

std::vector<Piece> ShuffledPieces(const Batch& batch, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<Piece> pieces;
  for (int what = 0; what < 3; ++what) {
    for (int head = 0; head < kHeads; ++head) {
      for (int64_t first = 0; first < batch.patches;) {
        const auto most = static_cast<int64_t>(1 + rng() % 200);
        const int64_t count = std::min(batch.patches - first, most);
        pieces.push_back({what, head, first, count});
        first += count;
      }
    }
  }
  std::ranges::shuffle(pieces, rng);
  return pieces;
}

Mat Attend(const EncoderAttention& attention, const Batch& batch, unsigned seed,
           EncoderAttentionMemory& memory) {
  attention.Begin(batch.images, memory);
  const std::vector<Piece> pieces = ShuffledPieces(batch, seed);
  tbb::parallel_for(size_t{0}, pieces.size(), [&](size_t i) {
    const Piece& piece = pieces[i];
    const Mat& from = (piece.what == 0 ? batch.q : piece.what == 1 ? batch.k : batch.v)[piece.head];
    const int64_t stride = batch.d + 5;  // rows with something between them
    Mat rows(piece.count, stride);
    for (int64_t r = 0; r < piece.count; ++r) {
      std::copy_n(from.View().Row(piece.first + r), batch.d, rows.View().Row(r));
    }
    const MatView given = rows.View().Columns(0, batch.d);
    if (piece.what == 0) attention.PutQueries(piece.head, piece.first, given, memory);
    if (piece.what == 1) attention.PutKeys(piece.head, piece.first, given, memory);
    if (piece.what == 2) attention.PutValues(piece.head, piece.first, given, memory);
  });
  attention.Run(memory);
  Mat out(memory.out.rows(), memory.out.cols());
  std::ranges::copy(memory.out.span(), out.data());
  return out;
}

TEST(EncoderAttention, Int8GivesTheBitsOfItsMeaningForEveryImageAndHead) {
  for (const int d : {20, 32, 64, 80}) {
    const Batch batch(d);
    const auto attention = MakeEncoderAttention(BestKernels(), VisionAttention::kInt8, kHeads, d);
    EncoderAttentionMemory memory;
    const Mat out = Attend(*attention, batch, 1, memory);
    ASSERT_EQ(out.rows(), batch.patches);
    ASSERT_EQ(out.cols(), kHeads * d);
    std::vector<float> expected(static_cast<size_t>(d));
    for (const ImageRows& image : batch.images) {
      for (int head = 0; head < kHeads; ++head) {
        const testing::PlainAttentionInt8 plain(
            static_cast<int>(image.count), d, batch.k[head].View().Row(image.first),
            batch.v[head].View().Row(image.first), 1.0F / std::sqrt(static_cast<float>(d)));
        for (int64_t i = 0; i < image.count; i += 1 + image.count / 20) {
          plain.Attend(batch.q[head].View().Row(image.first + i), expected.data());
          const float* actual = out.View().Row(image.first + i) + ptrdiff_t{head} * d;
          ASSERT_EQ(std::memcmp(actual, expected.data(), expected.size() * sizeof(float)), 0)
              << "d " << d << ", image of " << image.count << ", head " << head << ", row " << i;
        }
      }
    }
  }
}

TEST(EncoderAttention, F32IsNearDoublesForEveryImageAndHead) {
  const int d = 20;
  const Batch batch(d);
  const auto attention = MakeEncoderAttention(BestKernels(), VisionAttention::kF32, kHeads, d);
  EncoderAttentionMemory memory;
  const Mat out = Attend(*attention, batch, 1, memory);
  for (const ImageRows& image : batch.images) {
    for (int64_t i = 0; i < image.count; i += 1 + image.count / 5) {
      const int head = static_cast<int>(i) % kHeads;
      std::vector<double> weights;
      double sum = 0;
      for (int64_t j = 0; j < image.count; ++j) {
        const float* q = batch.q[head].View().Row(image.first + i);
        const float* k = batch.k[head].View().Row(image.first + j);
        weights.push_back(
            std::exp(std::inner_product(q, q + d, k, 0.0) / std::sqrt(static_cast<double>(d))));
        sum += weights.back();
      }
      for (int c = 0; c < d; ++c) {
        double value = 0;
        for (int64_t j = 0; j < image.count; ++j) {
          value += weights[static_cast<size_t>(j)] * batch.v[head].View().Row(image.first + j)[c];
        }
        EXPECT_NEAR(out.View().Row(image.first + i)[head * d + c], value / sum, 1e-5);
      }
    }
  }
}

TEST(EncoderAttention, PiecesAndMemoryUsedBeforeChangeNothing) {
  const Batch batch(32), larger(64);
  for (const auto arithmetic : {VisionAttention::kF32, VisionAttention::kInt8}) {
    const auto attention = MakeEncoderAttention(BestKernels(), arithmetic, kHeads, 32);
    EncoderAttentionMemory fresh, used;
    const Mat expected = Attend(*attention, batch, 1, fresh);
    Attend(*MakeEncoderAttention(BestKernels(), arithmetic, kHeads, 64), larger, 2, used);
    for (const unsigned seed : {3U, 4U}) {
      const Mat out = Attend(*attention, batch, seed, used);
      EXPECT_TRUE(std::ranges::equal(out.span(), expected.span()))
          << VisionAttentionName(arithmetic) << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace platen
