// Tokens as they can be shown to people.
#pragma once

#include <string>
#include <string_view>

namespace platen {

// The bytes of a token, every one of which can be seen: spaces are U+2423, ends of lines U+21B5,
// tabs U+21E5, other controls and bytes that are no whole character \xNN, characters that cannot be
// seen or that turn the text around \u{NNNN}. Long ones are cut off.
std::string VisibleToken(std::string_view bytes);

// The same of several tokens, up to a few hundred bytes.
std::string VisibleText(std::string_view bytes);

// VisibleToken where words are read: spaces stay.
std::string ReadableToken(std::string_view bytes);

}  // namespace platen
