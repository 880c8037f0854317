// Byte-level BPE of a Hugging Face tokenizer.json: text <-> token ids.
//
// Source: tokenizers 0.23 (BPE with ignore_merges, ByteLevel, Split by regular expression, added
// tokens); docs/SNAPSHOTS.md says where the two differ.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/token_id.h"

namespace platen {

// Immutable after Load; all const members are thread-safe.
class Tokenizer {
 public:
  // Throws Error(kModel) naming file and field for anything this class cannot honour exactly.
  static Tokenizer Load(const std::string& path);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Text (UTF-8) -> ids. Added tokens inside the text are matched, leftmost and longest first, as
  // the reference does. Invalid UTF-8 is replaced by U+FFFD first.
  std::vector<TokenId> Encode(std::string_view text) const;

  // Ids -> UTF-8; invalid byte sequences become U+FFFD, one per maximal invalid prefix. Ids without
  // a string decode to nothing.
  std::string Decode(std::span<const TokenId> ids, bool skip_special) const;

  // Raw bytes of one id; empty if it has none (or is special and `skip_special`).
  std::string_view Bytes(TokenId id, bool skip_special) const;

  // Id of an added token ("<|user|>"), if there is one.
  std::optional<TokenId> AddedTokenId(std::string_view content) const;
  // True if `id` is an added token.
  bool IsAdded(TokenId id) const;
  // Largest id that has a string.
  TokenId max_id() const;
  // Number of base entries, added tokens and merges (for `inspect`).
  size_t num_base_tokens() const;
  size_t num_added_tokens() const;
  size_t num_merges() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The text of generated tokens, without special tokens, and where each token's text ends in it. A
// token that ends within a character ends where that character begins. A character that the last
// tokens begin and do not finish, as at a limit of tokens, is left out.
struct DecodedText {
  std::string text;
  std::vector<int> token_ends;
};
DecodedText DecodeTokens(const Tokenizer& tokenizer, std::span<const TokenId> ids);

// Decodes a growing sequence: Append returns text that will never change, holding back an
// incomplete trailing UTF-8 sequence; Finish returns the rest.
class IncrementalDecoder {
 public:
  IncrementalDecoder(const Tokenizer& tokenizer, bool skip_special)
      : tokenizer_(tokenizer), skip_special_(skip_special) {}
  std::string Append(TokenId id);
  std::string Finish();
  // The rest without a character that was begun and not finished.
  std::string FinishWhole();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  std::string pending_;
};

}  // namespace platen
