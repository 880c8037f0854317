// UTF-8: what is well formed, and the one rule for what is not. The rule is that of the Unicode
// standard and of the reference tokenizer, whose token ids depend on it; text that a model has
// written has been through it and is not changed by the outputs that apply it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace platen {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// Length of the well-formed character `text` starts with (1..4), or 0 if it starts with none.
// Surrogates, overlong forms and values above U+10FFFF are not well formed.
size_t WellFormedLength(std::string_view text);

// `bytes` with every maximal ill-formed prefix replaced by one U+FFFD: the "substitution of maximal
// subparts" of the Unicode standard (chapter 3, table 3-8). "E4 B8" becomes one U+FFFD, "ED A0 80"
// three.
std::string ToValidUtf8(std::string_view bytes);

// Bytes at the end of `bytes` that begin a character and do not finish it: 0 to 3.
size_t UnfinishedLength(std::string_view bytes);

// Characters (code points) of `bytes`, what is ill-formed replaced as ToValidUtf8 does.
std::vector<uint32_t> CodePoints(std::string_view bytes);

// True if `bytes` ends with a well-formed character other than U+FFFD (or is empty): no byte that
// may follow can change how its end is read.
bool EndsWithWholeCharacter(std::string_view bytes);

}  // namespace platen
