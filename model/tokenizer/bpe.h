// Byte-pair encoding over bytes: the vocabulary and the merge list of a tokenizer.json.
//
// Vocabulary strings are written with one printable character per byte (the GPT-2 map); inside this
// class everything is raw bytes.
// Source: tokenizers' models/bpe (word.rs merge_all) and pre_tokenizers/byte_level.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/support/token_id.h"

namespace platen {

// The bytes a vocabulary string stands for; nothing if a character of it stands for no byte.
std::optional<std::string> BytesOfByteLevelText(std::string_view text);

// Immutable once filled; Encode is thread-safe.
class BpeVocabulary {
 public:
  // Expected numbers of entries and merges; only a matter of speed.
  void Reserve(size_t entries) { ids_.reserve(entries); }
  void ReserveMerges(size_t merges) { merges_.reserve(merges); }

  // False if the string has an id already.
  bool Add(std::string bytes, TokenId id);
  std::optional<TokenId> Find(std::string_view bytes) const;

  // The next lower priority: `left` followed by `right` becomes `merged`. A pair given twice keeps
  // its last place, as in the reference.
  void AddMerge(TokenId left, TokenId right, TokenId merged);

  // The first byte without an entry of its own, if any: such text could not be encoded.
  std::optional<int> FirstMissingByte() const;

  // Whole words that are entries become one token without merging (the "ignore_merges" option).
  void set_whole_words_first(bool value) { whole_words_first_ = value; }

  // Appends the ids of one word: merges the pair of lowest rank, leftmost first, until none is
  // left.
  void Encode(std::string_view word, std::vector<TokenId>& out) const;

  size_t size() const { return entries_.size(); }
  size_t num_merges() const { return next_rank_; }

 private:
  struct Merge {
    uint32_t rank;
    TokenId merged;
  };

  const Merge* FindMerge(TokenId left, TokenId right) const;

  std::deque<std::string> entries_;  // stable storage of the keys below
  std::unordered_map<std::string_view, TokenId> ids_;
  std::unordered_map<uint64_t, Merge> merges_;
  std::array<TokenId, 256> byte_ids_ = FilledWithNone();
  uint32_t next_rank_ = 0;
  bool whole_words_first_ = false;

  static std::array<TokenId, 256> FilledWithNone();
};

}  // namespace platen
