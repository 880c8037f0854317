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

// The candidate nearest to `word`, the first of several; empty if none is near enough to be meant.
std::string NearestName(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace platen
