#include "model/tokenizer/bpe.h"

#include <queue>
#include <utility>

#include "model/support/utf8.h"

namespace platen {
namespace {

constexpr TokenId kNone = -1;

// The GPT-2 map from characters to bytes. Printable bytes stand for themselves; the other 68, in
// ascending order, are U+0100, U+0101, ...
class ByteLevelMap {
 public:
  ByteLevelMap() {
    bytes_.fill(-1);
    int next_substitute = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable =
          (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      bytes_[static_cast<size_t>(printable ? byte : next_substitute++)] =
          static_cast<int16_t>(byte);
    }
  }
  // -1 if the character stands for no byte.
  int ByteOf(uint32_t code_point) const {
    return code_point < bytes_.size() ? bytes_[code_point] : -1;
  }

 private:
  std::array<int16_t, 0x100 + 68> bytes_;
};

uint64_t PairKey(TokenId left, TokenId right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

// A piece of the word while it is merged: a doubly linked list inside a vector.
struct Symbol {
  TokenId id;
  int prev;
  int next;
};

// A merge that may still apply: symbols `left` and its neighbour, if they are still what they were.
struct Candidate {
  uint32_t rank;
  int left;
  TokenId left_id;
  TokenId right_id;
  TokenId merged;

  // Lowest rank first, then leftmost (priority_queue pops the largest).
  bool operator<(const Candidate& other) const {
    return std::pair(rank, left) > std::pair(other.rank, other.left);
  }
};

}  // namespace

std::optional<std::string> BytesOfByteLevelText(std::string_view text) {
  static const ByteLevelMap map;
  std::string bytes;
  while (!text.empty()) {
    const size_t length = WellFormedLength(text);
    if (length == 0 || length > 2) return std::nullopt;  // mapped characters end at U+0143
    const auto first = static_cast<uint8_t>(text[0]);
    const uint32_t code_point =
        length == 1 ? first : (first & 0x1FU) << 6 | (static_cast<uint8_t>(text[1]) & 0x3FU);
    const int byte = map.ByteOf(code_point);
    if (byte < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
    text.remove_prefix(length);
  }
  return bytes;
}

std::array<TokenId, 256> BpeVocabulary::FilledWithNone() {
  std::array<TokenId, 256> ids;
  ids.fill(kNone);
  return ids;
}

bool BpeVocabulary::Add(std::string bytes, TokenId id) {
  if (ids_.contains(bytes)) return false;
  const std::string& stored = entries_.emplace_back(std::move(bytes));
  ids_.emplace(stored, id);
  if (stored.size() == 1) byte_ids_[static_cast<uint8_t>(stored[0])] = id;
  return true;
}

std::optional<TokenId> BpeVocabulary::Find(std::string_view bytes) const {
  const auto found = ids_.find(bytes);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

void BpeVocabulary::AddMerge(TokenId left, TokenId right, TokenId merged) {
  merges_[PairKey(left, right)] = {next_rank_++, merged};
}

std::optional<int> BpeVocabulary::FirstMissingByte() const {
  for (int byte = 0; byte < 256; ++byte) {
    if (byte_ids_[static_cast<size_t>(byte)] == kNone) return byte;
  }
  return std::nullopt;
}

const BpeVocabulary::Merge* BpeVocabulary::FindMerge(TokenId left, TokenId right) const {
  const auto found = merges_.find(PairKey(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void BpeVocabulary::Encode(std::string_view word, std::vector<TokenId>& out) const {
  if (whole_words_first_) {
    if (const std::optional<TokenId> id = Find(word)) {
      out.push_back(*id);
      return;
    }
  }
  const int count = static_cast<int>(word.size());
  std::vector<Symbol> symbols(word.size());
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    symbols[at] = {byte_ids_[static_cast<uint8_t>(word[at])], i - 1, i + 1 < count ? i + 1 : -1};
  }
  const auto symbol = [&symbols](int i) -> Symbol& { return symbols[static_cast<size_t>(i)]; };

  std::priority_queue<Candidate> candidates;
  const auto propose = [&](int left) {
    if (left < 0 || symbol(left).next < 0) return;
    const TokenId right_id = symbol(symbol(left).next).id;
    if (const Merge* merge = FindMerge(symbol(left).id, right_id)) {
      candidates.push({merge->rank, left, symbol(left).id, right_id, merge->merged});
    }
  };
  for (int i = 0; i < count; ++i) propose(i);
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol& left = symbol(best.left);
    const int right_index = left.next;
    // Stale if either side was merged meanwhile (a merged-away symbol has no id).
    if (left.id != best.left_id || right_index < 0 || symbol(right_index).id != best.right_id)
      continue;
    left.id = best.merged;
    left.next = symbol(right_index).next;
    if (left.next >= 0) symbol(left.next).prev = best.left;
    symbol(right_index).id = kNone;
    propose(left.prev);
    propose(best.left);
  }
  for (int i = count > 0 ? 0 : -1; i >= 0; i = symbol(i).next) out.push_back(symbol(i).id);
}

}  // namespace platen
