// Finding added tokens ("<|user|>") in text.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/support/token_id.h"

namespace platen {

// Immutable once filled; reading is thread-safe.
class AddedTokens {
 public:
  struct Match {
    size_t begin;
    size_t length;
    TokenId id;
  };

  // `content` must not be empty. False if it is there already.
  bool Add(const std::string& content, TokenId id);

  std::optional<TokenId> Find(std::string_view content) const;
  // The leftmost occurrence of any token in `text`; of several there, the longest.
  std::optional<Match> FindFirst(std::string_view text) const;
  size_t size() const { return ids_.size(); }

 private:
  // The longest token that `text` starts with.
  std::optional<Match> MatchAtStart(std::string_view text) const;

  std::map<std::string, TokenId, std::less<>> ids_;
  std::string first_bytes_;  // every byte a token starts with
  size_t max_length_ = 0;
};

}  // namespace platen
