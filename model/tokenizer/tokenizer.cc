#include "model/tokenizer/tokenizer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/support/utf8.h"
#include "model/tokenizer/added_tokens.h"
#include "model/tokenizer/bpe.h"
#include "model/tokenizer/split_pattern.h"
#include "model/tokenizer/tokenizer_file.h"

namespace platen {

struct Tokenizer::Impl {
  TokenizerFile parts;

  const TokenizerFile::Entry* EntryOf(TokenId id) const {
    if (id < 0 || static_cast<size_t>(id) >= parts.entries.size()) return nullptr;
    return &parts.entries[static_cast<size_t>(id)];
  }
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::Load(const std::string& path) {
  return Tokenizer(std::make_unique<Impl>(Impl{ReadTokenizerFile(path)}));
}

std::vector<TokenId> Tokenizer::Encode(std::string_view text) const {
  const std::string valid = ToValidUtf8(text);
  std::vector<TokenId> ids;
  std::vector<std::string_view> words;
  const auto encode_plain = [&](std::string_view plain) {
    words.clear();
    impl_->parts.split.Split(plain, words);
    for (const std::string_view word : words) impl_->parts.vocabulary.Encode(word, ids);
  };
  std::string_view rest = valid;
  while (const auto found = impl_->parts.added.FindFirst(rest)) {
    encode_plain(rest.substr(0, found->begin));
    ids.push_back(found->id);
    rest.remove_prefix(found->begin + found->length);
  }
  encode_plain(rest);
  return ids;
}

std::string_view Tokenizer::Bytes(TokenId id, bool skip_special) const {
  const TokenizerFile::Entry* entry = impl_->EntryOf(id);
  if (entry == nullptr || (skip_special && entry->special)) return {};
  return entry->bytes;
}

std::string Tokenizer::Decode(std::span<const TokenId> ids, bool skip_special) const {
  std::string bytes;
  for (const TokenId id : ids) bytes += Bytes(id, skip_special);
  return ToValidUtf8(bytes);
}

std::optional<TokenId> Tokenizer::AddedTokenId(std::string_view content) const {
  return impl_->parts.added.Find(content);
}

bool Tokenizer::IsAdded(TokenId id) const {
  const TokenizerFile::Entry* entry = impl_->EntryOf(id);
  return entry != nullptr && entry->added;
}

TokenId Tokenizer::max_id() const { return static_cast<TokenId>(impl_->parts.entries.size()) - 1; }
size_t Tokenizer::num_base_tokens() const { return impl_->parts.num_base_tokens; }
size_t Tokenizer::num_added_tokens() const { return impl_->parts.added.size(); }
size_t Tokenizer::num_merges() const { return impl_->parts.vocabulary.num_merges(); }

DecodedText DecodeTokens(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  DecodedText out;
  IncrementalDecoder decoder(tokenizer, /*skip_special=*/true);
  for (const TokenId id : ids) {
    out.text += decoder.Append(id);
    out.token_ends.push_back(static_cast<int>(out.text.size()));
  }
  out.text += decoder.FinishWhole();
  if (!out.token_ends.empty()) out.token_ends.back() = static_cast<int>(out.text.size());
  return out;
}

std::string IncrementalDecoder::Append(TokenId id) {
  pending_ += tokenizer_.Bytes(id, skip_special_);
  return EndsWithWholeCharacter(pending_) ? Finish() : std::string();
}

std::string IncrementalDecoder::FinishWhole() {
  pending_.resize(pending_.size() - UnfinishedLength(pending_));
  return Finish();
}

std::string IncrementalDecoder::Finish() {
  return ToValidUtf8(std::exchange(pending_, std::string()));
}

}  // namespace platen
