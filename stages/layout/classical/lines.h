// Phrases joined into the lines of a page.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "stages/layout/classical/gutters.h"
#include "stages/layout/classical/phrases.h"
#include "stages/layout/classical/rulings.h"

namespace platen::layout {

// Leaves out the vertical rulings that go through print: scratches, frames of stamps.
std::vector<Ruling> WithoutScratches(const std::vector<Ruling>& verticals,
                                     const std::vector<Phrase>& phrases, double letter_height);

// Joins phrases that stand on one line, never across a gutter or a vertical ruling.
std::vector<Phrase> JoinPhrases(const std::vector<Phrase>& phrases, const Gutters& gutters,
                                const std::vector<Ruling>& verticals, double letter_height);

// Cuts lines that run over several columns of a table, at the white that parts the columns.
std::vector<Phrase> CutAtColumns(const std::vector<Phrase>& lines, double letter_height);

// Widens lines by the bullets and dashes that stand before them: marks of one size below one
// another, at least two on the page.
void AddBullets(const std::vector<Box>& small, double letter_height, std::vector<Phrase>& lines);

// Widens the lines by their dots, accents and commas. Small components near no line are dirt.
void AddSmallMarks(const std::vector<Box>& small, double letter_height, std::vector<Phrase>& lines);

}  // namespace platen::layout
