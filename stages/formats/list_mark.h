// What list items begin with.
#pragma once

#include <cstddef>
#include <string_view>

namespace platen {

inline constexpr std::string_view kEmptyCheckBox = "\xE2\x98\x90";   // ☐
inline constexpr std::string_view kTickedCheckBox = "\xE2\x98\x92";  // ☒

struct ListMark {
  enum class Kind {
    kNone,
    kBullet,    // a dot, a dash, a square
    kNumber,    // "12." or "12)": a number of a Markdown list
    kLabel,     // "a)", "(3)", "(iv)"
    kOpenTask,  // an empty check box
    kDoneTask,  // a ticked one
  };
  Kind kind = Kind::kNone;
  size_t bytes = 0;  // with the space behind it

  explicit operator bool() const { return kind != Kind::kNone; }
};

// The mark that `text` (UTF-8) begins with and that has something behind it.
ListMark FindListMark(std::string_view text);

}  // namespace platen
