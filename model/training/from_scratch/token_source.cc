#include "model/training/from_scratch/token_source.h"

#include <array>
#include <cassert>

namespace platen {
namespace {

TokenBatch EmptyBatch(int64_t count, int64_t length) {
  return {count, length, std::vector<TokenId>(static_cast<size_t>(count * length))};
}

}  // namespace

TokenBatch RandomTokens::Next(int64_t count) {
  TokenBatch batch = EmptyBatch(count, length_);
  for (TokenId& id : batch.ids) {
    random_.Next();  // where TableTokens decides whether the token is noise
    id = static_cast<TokenId>(random_.Below(vocabulary_));
  }
  return batch;
}

std::vector<TokenId> RandomTable(int64_t vocabulary, uint64_t seed) {
  SplitMix random(seed);
  std::vector<TokenId> table(static_cast<size_t>(vocabulary * vocabulary));
  for (TokenId& next : table) next = static_cast<TokenId>(random.Below(vocabulary));
  return table;
}

TableTokens::TableTokens(std::vector<TokenId> table, int64_t vocabulary, int64_t length,
                         uint64_t seed)
    : table_(std::move(table)), vocabulary_(vocabulary), length_(length), random_(seed) {
  assert(static_cast<int64_t>(table_.size()) == vocabulary * vocabulary);
}

TokenBatch TableTokens::Next(int64_t count) {
  TokenBatch batch = EmptyBatch(count, length_);
  for (int64_t b = 0; b < count; ++b) {
    TokenId* ids = batch.ids.data() + b * length_;
    for (int64_t i = 0; i < length_; ++i) {
      const bool noise = random_.Below(kNoise) == 0;
      ids[i] = static_cast<TokenId>(random_.Below(vocabulary_));
      if (i < 2 || noise) continue;
      ids[i] = table_[static_cast<size_t>(ids[i - 2] * vocabulary_ + ids[i - 1])];
    }
  }
  return batch;
}

ByteText::ByteText(std::string_view text) {
  std::array<bool, 256> occurs = {};
  for (const char c : text) occurs[static_cast<uint8_t>(c)] = true;
  std::array<TokenId, 256> id_of = {};
  for (size_t byte = 0; byte < occurs.size(); ++byte) {
    if (!occurs[byte]) continue;
    id_of[byte] = static_cast<TokenId>(bytes.size());
    bytes.push_back(static_cast<uint8_t>(byte));
  }
  ids.reserve(text.size());
  for (const char c : text) ids.push_back(id_of[static_cast<uint8_t>(c)]);
}

TextTokens::TextTokens(const ByteText& text, size_t first, size_t end, int64_t length,
                       uint64_t seed)
    : ids_(text.ids.begin() + static_cast<std::ptrdiff_t>(first),
           text.ids.begin() + static_cast<std::ptrdiff_t>(end)),
      length_(length),
      random_(seed) {
  assert(static_cast<int64_t>(ids_.size()) >= length);
}

TokenBatch TextTokens::Next(int64_t count) {
  TokenBatch batch = EmptyBatch(count, length_);
  const auto starts = static_cast<int64_t>(ids_.size()) - length_ + 1;
  for (int64_t b = 0; b < count; ++b) {
    const auto from = ids_.begin() + static_cast<std::ptrdiff_t>(random_.Below(starts));
    std::copy(from, from + length_, batch.ids.begin() + b * length_);
  }
  return batch;
}

}  // namespace platen
