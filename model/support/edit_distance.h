// How far two sequences are apart: the fewest insertions, deletions and substitutions that turn one
// into the other (Levenshtein).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace platen {

// Any symbols: characters of a text, ids of tokens. Time is len(a) * len(b) / 64 word operations
// (two texts of 100,000 characters: half a second), memory is linear.
// Source: Myers 1999, with the blocks of Hyyrö 2003.
int64_t EditDistance(std::span<const uint32_t> a, std::span<const uint32_t> b);

// Of two short words, byte by byte.
int64_t EditDistance(std::string_view a, std::string_view b);

// The candidate that `word` probably means; empty if none is near enough. The only one that begins
// with the word, if it has three letters or more; else the one within two edits, the nearest, the
// first of several. Dashes in front are no letters, and a word of which every letter would change
// means none.
std::string NearestName(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace platen
