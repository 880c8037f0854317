// What list items begin with.
#pragma once

#include <cstddef>
#include <string_view>

namespace platen {

struct ListMark {
  enum class Kind {
    kNone,
    kBullet,  // a dot, a dash, a square
    kNumber,  // "12." or "12)": a number of a Markdown list
    kLabel,   // "a)", "(3)", "(iv)"
  };
  Kind kind = Kind::kNone;
  size_t bytes = 0;  // with the space behind it

  explicit operator bool() const { return kind != Kind::kNone; }
};

// The mark that `text` (UTF-8) begins with and that has something behind it.
ListMark FindListMark(std::string_view text);

}  // namespace platen
