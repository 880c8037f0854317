// Content of PDF pages: operators and their operands (ISO 32000-1, 7.8.2, 9.3.6, 9.4.3).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace platen {

inline constexpr int kVisibleText = 0;
inline constexpr int kInvisibleText = 3;  // neither filled nor stroked

struct ContentWithoutText {
  std::string content;
  bool removed = false;     // text that was invisible
  bool other_text = false;  // is shown, and stays
  // Forms and images that it draws, by name ("/X1"), and the mode that text in them begins with.
  std::map<std::string, int> drawn;
};

// Without the operators that show text in mode 3, which is what programs that recognise text put
// over or under a scan. All other bytes stay. `mode`: that the content begins with.
//
// Nothing: it cannot be taken apart for certain, other text stands where the invisible text ends,
// or the same form is drawn in several modes. Anything may stand in it; takes linear time.
std::optional<ContentWithoutText> WithoutInvisibleText(std::string_view content,
                                                       int mode = kVisibleText);

}  // namespace platen
