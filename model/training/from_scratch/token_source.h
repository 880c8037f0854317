// What a small network learns from: sequences of tokens, made up or cut out of a text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/support/token_id.h"
#include "model/training/from_scratch/split_mix.h"

namespace platen {

struct TokenBatch {
  int64_t count = 0;         // B sequences
  int64_t length = 0;        // T tokens each
  std::vector<TokenId> ids;  // [B, T]

  TokenId at(int64_t sequence, int64_t place) const {
    return ids[static_cast<size_t>(sequence * length + place)];
  }
};

// An endless stream of sequences; the same seed gives the same ones. Not thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual TokenBatch Next(int64_t count) = 0;
};

// Uniform and independent: there is nothing to learn.
class RandomTokens final : public TokenSource {
 public:
  RandomTokens(int64_t vocabulary, int64_t length, uint64_t seed)
      : vocabulary_(vocabulary), length_(length), random_(seed) {}
  TokenBatch Next(int64_t count) override;

 private:
  const int64_t vocabulary_, length_;
  SplitMix random_;
};

// What follows two tokens: [V, V], the next token of (a, b) at a * V + b; uniform.
std::vector<TokenId> RandomTable(int64_t vocabulary, uint64_t seed);

// Every token follows from the two before it, but one in kNoise, which is uniform like the first
// two of a sequence. Who knows the table is right with a chance of 1 - (1 - 1 / V) / kNoise.
class TableTokens final : public TokenSource {
 public:
  static constexpr int64_t kNoise = 20;

  TableTokens(std::vector<TokenId> table, int64_t vocabulary, int64_t length, uint64_t seed);
  TokenBatch Next(int64_t count) override;

 private:
  const std::vector<TokenId> table_;
  const int64_t vocabulary_, length_;
  SplitMix random_;
};

// A text, its bytes numbered in the order of their values; bytes that do not occur have no number.
struct ByteText {
  explicit ByteText(std::string_view text);
  int64_t vocabulary() const { return static_cast<int64_t>(bytes.size()); }

  std::vector<TokenId> ids;
  std::vector<uint8_t> bytes;  // of the ids
};

// Pieces from all over a text. `ids` [first, end) hold at least one piece.
class TextTokens final : public TokenSource {
 public:
  TextTokens(const ByteText& text, size_t first, size_t end, int64_t length, uint64_t seed);
  TokenBatch Next(int64_t count) override;

 private:
  const std::vector<TokenId> ids_;
  const int64_t length_;
  SplitMix random_;
};

}  // namespace platen
