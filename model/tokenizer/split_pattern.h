// The regular expression that cuts text into words before byte-pair encoding.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace platen {

// Immutable; Split is thread-safe.
//
// The reference compiles the same pattern with another engine (Oniguruma). The two agree on the
// syntax in use but not on `\s`: here it is rewritten to the Unicode White_Space set.
class SplitPattern {
 public:
  // Throws Error(kModel) naming `file` and `field` for a pattern that does not compile, is too
  // long, or cannot be given its reference meaning.
  SplitPattern(const std::string& pattern, const std::string& file, const std::string& field);
  SplitPattern(SplitPattern&&) noexcept;
  SplitPattern& operator=(SplitPattern&&) noexcept;
  ~SplitPattern();

  // Appends the pieces of `text` (valid UTF-8): matches and the stretches between them, in order;
  // together they are `text`. Throws Error(kModel) if matching exceeds its step limit.
  void Split(std::string_view text, std::vector<std::string_view>& pieces) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace platen
