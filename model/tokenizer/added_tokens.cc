#include "model/tokenizer/added_tokens.h"

#include <algorithm>

namespace platen {

bool AddedTokens::Add(const std::string& content, TokenId id) {
  if (!ids_.emplace(content, id).second) return false;
  if (first_bytes_.find(content.front()) == std::string::npos) first_bytes_ += content.front();
  max_length_ = std::max(max_length_, content.size());
  return true;
}

std::optional<TokenId> AddedTokens::Find(std::string_view content) const {
  const auto found = ids_.find(content);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::optional<AddedTokens::Match> AddedTokens::MatchAtStart(std::string_view text) const {
  for (size_t length = std::min(max_length_, text.size()); length > 0; --length) {
    if (const auto found = ids_.find(text.substr(0, length)); found != ids_.end()) {
      return Match{0, length, found->second};
    }
  }
  return std::nullopt;
}

std::optional<AddedTokens::Match> AddedTokens::FindFirst(std::string_view text) const {
  size_t at = text.find_first_of(first_bytes_);
  while (at != std::string_view::npos) {
    if (std::optional<Match> match = MatchAtStart(text.substr(at))) {
      match->begin = at;
      return match;
    }
    at = text.find_first_of(first_bytes_, at + 1);
  }
  return std::nullopt;
}

}  // namespace platen
