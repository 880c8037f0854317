// Attention over latents (LatentAttentionJob): generic/attention.h with one kind of pages for keys
// and values.
//
// In a page a vector holds 16 tokens of one dimension, or of a pair of them, which suits the
// scores. For the weighted values some tokens at a time are transposed, so that a vector holds 16
// words of one token and no sum runs over lanes. A word is a value of f32 or a pair of bf16.
//
//   page [words][tokens]  ---scores--->  p [rows][tokens]  --times-->  out [rows][value_width]
//                         -transposed->  values [tokens][words]
//
// Every block of rows uses some vectors of tokens, or transposed values, before the next ones are
// read, so that they come from the L1 cache. A weighted value is summed over tokens ascending.
//
// Memory idles while a row block computes, so it fetches what comes next: latents a few pages
// ahead, then other memory that is read behind the job.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/attention.h"
#include "model/kernels/generic/attention_products.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// Query rows that use a split while it is in the L2 cache.
constexpr int kLatentTile = 64;
constexpr int kLatentBlocks = (kLatentTile + kTileRows - 1) / kTileRows;
// Tokens whose values are transposed at a time.
constexpr int kValueTokens = 64;
// Vectors of 16 tokens whose scores are computed at a time.
constexpr int kScoreVectors = kTileVectors;
// Lines that are fetched while a token is weighed: as many as memory delivers meanwhile.
constexpr int kWeighLines = 2;
// Pages of latents from those that are used to the one that is fetched meanwhile.
constexpr int kPagesAhead = 2;

struct LatentTile {
  SoftmaxRows<kLatentTile, kMaxLatentWidth> state;  // out: see WeighSplit
  alignas(64) float p[kLatentTile * kKeySplit];     // scores, then probabilities
  float rescale[kLatentTile];
  alignas(64) float values[kValueTokens * kMaxLatentWidth];
};

// Words of the values of a job, and so many that they are whole vectors.
template <class Page>
PLATEN_INLINE int ValueWords(const LatentAttentionJob& job) {
  return (job.value_width + Page::kDepth - 1) / Page::kDepth;
}
template <class Page>
PLATEN_INLINE int PaddedWords(const LatentAttentionJob& job) {
  return (ValueWords<Page>(job) + 15) / 16 * 16;
}

// The rows of a tile in blocks, and how many latents of a split each block sees.
struct RowBlocks {
  int count;
  int first[kLatentBlocks + 1];
  int seen[kLatentBlocks];
  int most;  // of seen
};

PLATEN_INLINE RowBlocks BlocksOf(const int32_t* context, int rows, int first_key) {
  RowBlocks blocks = {BlockCount(rows), {}, {}, 0};
  for (int i = 0; i < blocks.count; ++i) {
    const int row = blocks.first[i] = BlockStart(rows, blocks.count, i);
    const int end = blocks.first[i + 1] = BlockStart(rows, blocks.count, i + 1);
    blocks.seen[i] = Visible(LongestContext(context, row, end - row), first_key, kKeySplit);
    blocks.most = blocks.seen[i] > blocks.most ? blocks.seen[i] : blocks.most;
  }
  return blocks;
}

// What is fetched, piece by piece.
class FetchCursor {
 public:
  PLATEN_INLINE FetchCursor(const LatentAttentionJob& job, int keys, ptrdiff_t page_bytes)
      : job_(job),
        own_pages_((keys + job.page_tokens - 1) / job.page_tokens),
        page_bytes_(page_bytes),
        other_(job.next.bytes),
        other_end_(job.next.bytes + job.next.num_bytes) {}

  // The next piece of at most `bytes`: of the latents up to kPagesAhead behind page `used`, which
  // are this job's and then the next one's; of other memory; `nothing` where that is too short.
  PLATEN_INLINE const std::byte* Take(ptrdiff_t bytes, int used, const void* nothing) {
    if (at_ == end_ && page_ <= used + kPagesAhead && page_ < own_pages_ + job_.next.num_pages) {
      const void* page =
          page_ < own_pages_ ? job_.pages[page_] : job_.next.pages[page_ - own_pages_];
      at_ = static_cast<const std::byte*>(page);
      end_ = at_ + page_bytes_;
      ++page_;
    }
    if (at_ != end_) {
      const std::byte* taken = at_;
      at_ = end_ - at_ < bytes ? end_ : at_ + bytes;
      return taken;
    }
    if (other_end_ - other_ < bytes) return static_cast<const std::byte*>(nothing);
    other_ += bytes;
    return other_ - bytes;
  }

 private:
  const LatentAttentionJob& job_;
  int own_pages_;
  ptrdiff_t page_bytes_;
  int page_ = kPagesAhead;  // the next one
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;  // of the page of `at_`
  const std::byte* other_;
  const std::byte* other_end_;
};

// ---- scores

// s[MR][16 NV] = q[MR][depth] * the latents of sixteen tokens at each of `at`, whose words are
// `stride` values of the page apart. Fetches lines from `fetch` on.
template <class Page, int MR, int NV>
[[gnu::noinline]] void ScoreVectors(const float* q, ptrdiff_t depth, const void* const* at,
                                    ptrdiff_t stride, const std::byte* fetch, float* s) {
  constexpr int kLines = (NV + 1) / 2;
  const PageStarts<typename Page::Value, NV> keys(at, 0, 0);
  F32x16 acc[MR][NV];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<NV>([&](auto v) __attribute__((always_inline)) { acc[r][v] = Set1(0.0F); });
  });
  for (ptrdiff_t d = 0, i = 0; d < depth; d += Page::kTerms, i += stride, fetch += 64 * kLines) {
    Unroll<kLines>([&](auto line) __attribute__((always_inline)) {
      __builtin_prefetch(fetch + 64 * line, 0, 2);
    });
    Unroll<Page::kTerms>([&](auto term) __attribute__((always_inline)) {
      F32x16 w[NV];
      Unroll<NV>([&](auto v) __attribute__((always_inline)) {
        w[v] = Page::template Load16<term>(keys.at[v] + i);
      });
      AddProducts<Page>(q + d + term, depth, w, acc);
    });
  }
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<NV>([&](auto v) __attribute__((always_inline)) {
      Store(acc[r][v], s + r * kKeySplit + v * 16);
    });
  });
}

// Scores of a split's latents for all rows.
template <class Page>
PLATEN_INLINE void ScoreSplit(const LatentAttentionJob& job, LatentTile& t, const RowBlocks& blocks,
                              int first_key, FetchCursor& fetch) {
  const ptrdiff_t stride = static_cast<ptrdiff_t>(job.page_tokens) * Page::kDepth;
  const ptrdiff_t words = job.key_width / Page::kDepth;
  const int vectors = (blocks.most + 15) / 16;
  const int parts = (vectors + kScoreVectors - 1) / kScoreVectors;
  for (int part = 0; part < parts; ++part) {
    const int first = BlockStart(vectors, parts, part);
    const int count = BlockStart(vectors, parts, part + 1) - first;
    const void* at[kScoreVectors];
    int page = 0;
    for (int v = 0; v < count; ++v) {
      const int key = first_key + (first + v) * 16;
      page = key / job.page_tokens;
      at[v] = static_cast<const typename Page::Value*>(job.pages[page]) +
              key % job.page_tokens * Page::kDepth;
    }
    for (int i = 0; i < blocks.count; ++i) {
      if (blocks.seen[i] <= first * 16) continue;
      const int row = blocks.first[i];
      const std::byte* fetched = fetch.Take(words * ((count + 1) / 2 * 64), page, at[0]);
      WithIndex<kTileRows>(
          blocks.first[i + 1] - row, [&](auto r) __attribute__((always_inline)) {
            WithIndex<kScoreVectors>(
                count, [&](auto v) __attribute__((always_inline)) {
                  ScoreVectors<Page, r, v>(t.state.q + row * job.key_width, job.key_width, at,
                                           stride, fetched, t.p + row * kKeySplit + first * 16);
                });
          });
    }
  }
}

// ---- weighted values

// to[16 tokens][padded]: the words of 16 tokens, zeros behind the last; those of `at` are `stride`
// bytes apart.
PLATEN_INLINE void TransposeWords(const std::byte* at, ptrdiff_t stride, int words, int padded,
                                  float* to) {
  int first = 0;
  for (; first + 16 <= words; first += 16) {
    StoreTransposed(at + first * stride, stride, to + first, padded);
  }
  if (first == words) return;
  alignas(64) float rest[16 * 16];
  for (int i = 0; i < 16; ++i) {
    Store(first + i < words ? LoadPairs(at + (first + i) * stride) : Set1(0.0F), rest + i * 16);
  }
  StoreTransposed(reinterpret_cast<const std::byte*>(rest), 64, to + first, padded);
}

// out[MR][kDepth words] = out * rescale + p[MR][tokens] * NV vectors of words of the values.
// Fetches lines from `fetch` on.
template <class Page, int MR, int NV>
[[gnu::noinline]] void WeighWords(const float* p, int tokens, const float* values, ptrdiff_t words,
                                  const float* rescale, const std::byte* fetch, float* out) {
  constexpr int kParts = Page::kDepth;
  F32x16 acc[MR][NV * kParts];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<NV * kParts>([&](auto v) __attribute__((always_inline)) {
      acc[r][v] = Mul(Load(out + r * words * kParts + v * 16), Set1(rescale[r]));
    });
  });
  for (; tokens > 0; --tokens, values += words, ++p, fetch += 64 * kWeighLines) {
    Unroll<kWeighLines>([&](auto line) __attribute__((always_inline)) {
      __builtin_prefetch(fetch + 64 * line, 0, 2);
    });
    F32x16 w[NV * kParts];
    Unroll<NV>([&](auto v) __attribute__((always_inline)) {
      Unroll<kParts>([&](auto part) __attribute__((always_inline)) {
        w[v * kParts + part] = Page::template Widen<part>(Load(values + v * 16));
      });
    });
    AddProducts<Page>(p, kKeySplit, w, acc);
  }
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<NV * kParts>([&](auto v) __attribute__((always_inline)) {
      Store(acc[r][v], out + r * words * kParts + v * 16);
    });
  });
}

// out = out * rescale + p * values of a split's latents. In bf16 `out` holds the first values of
// sixteen pairs, then the second ones.
template <class Page>
PLATEN_INLINE void WeighSplit(const LatentAttentionJob& job, LatentTile& t, const RowBlocks& blocks,
                              int first_key, FetchCursor& fetch) {
  constexpr int kAtOnce = kTileVectors < Page::kDepth ? 1 : kTileVectors / Page::kDepth;
  constexpr int kWordBytes = sizeof(typename Page::Value) * Page::kDepth;
  const int words = PaddedWords<Page>(job);
  const int last_page = (first_key + blocks.most - 1) / job.page_tokens;
  for (int begin = 0; begin < blocks.most; begin += kValueTokens) {
    for (int token = 0; token < kValueTokens && begin + token < blocks.most; token += 16) {
      const int key = first_key + begin + token;
      const auto* page = static_cast<const std::byte*>(job.pages[key / job.page_tokens]);
      TransposeWords(page + key % job.page_tokens * kWordBytes, job.page_tokens * kWordBytes,
                     ValueWords<Page>(job), words, t.values + token * words);
    }
    for (int i = 0; i < blocks.count; ++i) {
      const int row = blocks.first[i];
      const int tokens = Visible(blocks.seen[i], begin, kValueTokens);
      if (tokens == 0) continue;
      WithIndex<kTileRows>(
          blocks.first[i + 1] - row, [&](auto r) __attribute__((always_inline)) {
            const float* p = t.p + row * kKeySplit + begin;
            float* out = t.state.out + row * words * Page::kDepth;
            const auto fetched = [&]() __attribute__((always_inline)) {
              return fetch.Take(ptrdiff_t{64} * kWeighLines * tokens, last_page, t.values);
            };
            int first = 0;
            for (; first + 16 * kAtOnce <= words; first += 16 * kAtOnce) {
              WeighWords<Page, r, kAtOnce>(p, tokens, t.values + first, words, t.rescale + row,
                                           fetched(), out + first * Page::kDepth);
            }
            for (; first < words; first += 16) {
              WeighWords<Page, r, 1>(p, tokens, t.values + first, words, t.rescale + row, fetched(),
                                     out + first * Page::kDepth);
            }
          });
      for (int r = row; r < blocks.first[i + 1]; ++r) t.rescale[r] = 1.0F;  // once a split
    }
  }
}

// ---- all of it

template <class Page>
void AttendLatentTile(const LatentAttentionJob& job, int first_row, int rows) {
  LatentTile t;
  const int32_t* context = job.context + first_row;
  const int out_stride = PaddedWords<Page>(job) * Page::kDepth;
  const int keys = LongestContext(context, 0, rows);
  FetchCursor fetch(
      job, keys,
      static_cast<ptrdiff_t>(sizeof(typename Page::Value)) * job.key_width * job.page_tokens);
  t.state.Begin(job.q + first_row, rows, job.key_width, job.scale, out_stride);
  for (int first = 0; first < keys; first += kKeySplit) {
    const RowBlocks blocks = BlocksOf(context, rows, first);
    ScoreSplit<Page>(job, t, blocks, first, fetch);
    for (int i = 0; i < blocks.count; ++i) {
      const int row = blocks.first[i];
      if (blocks.seen[i] == 0) continue;
      Soften(t.state, context, row, blocks.first[i + 1] - row, first, blocks.seen[i],
             t.p + row * kKeySplit, t.rescale + row);
    }
    WeighSplit<Page>(job, t, blocks, first, fetch);
  }
  if constexpr (Page::kDepth == 2) {
    for (float* out = t.state.out; out < t.state.out + rows * out_stride; out += 32) {
      StorePairs(Load(out), Load(out + 16), out);
    }
  }
  t.state.End(job.out + first_row, rows, job.value_width, out_stride);
}

inline void LatentAttention(const LatentAttentionJob& job) {
  for (int first = 0; first < job.rows; first += kLatentTile) {
    const int left = job.rows - first;
    const int rows = left < kLatentTile ? left : kLatentTile;
    if (job.type == KvType::kF32) {
      AttendLatentTile<F32Page>(job, first, rows);
    } else {
      AttendLatentTile<Bf16Page>(job, first, rows);
    }
  }
}

}  // namespace platen::PLATEN_ISA
