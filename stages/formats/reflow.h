// Lines of print joined into flowing text.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stages/formats/page_result.h"

namespace platen {

// The words of a page, for judging hyphens at line ends. Lower case for ASCII letters.
class PageWords {
 public:
  explicit PageWords(const PageResult& page);

  // Whether the page has the word with its hyphen within a line.
  bool HasHyphenated(const std::string& word) const { return hyphenated_.count(word) > 0; }

 private:
  std::set<std::string> hyphenated_;
};

// Whether a text goes on in the next one, as at the end of a column: that begins with a small
// letter, and this ends with a hyphen, or with a line of some length and no end of a sentence.
bool GoesOnIn(const RegionResult& text, const RegionResult& next);

// Bytes of the hyphen that a line ends with and that is not all of it; 0: none.
size_t EndingHyphen(std::string_view line);

// The text of two lines in one. A hyphen at the end of the first goes if the second begins with a
// small letter, unless the page has the word with its hyphen elsewhere or what stands before it is
// one of the parts that words keep theirs after ("self-", "well-", "twenty-"); otherwise they are
// joined by a space. docs/OUTPUTS.md has the rule.
std::string JoinLines(std::string_view above, std::string_view below, const PageWords& words);

// Whether a line was ended on purpose: the first word of the next would have had room behind it. As
// in addresses and verse. `right`: where the lines of the block end.
bool EndsOnPurpose(const LineResult& line, const LineResult& next, double right);

// Where the lines of a region may end: where the longest does, if they look broken there; else
// where the furthest of all lines of the page ends that begin at its margin.
double RightEdge(const PageResult& page, const RegionResult& region);

// A region's lines as flowing text: one string for each line that was ended on purpose. `region`
// was read line by line; `right` as of RightEdge.
std::vector<std::string> Reflow(const RegionResult& region, double right, const PageWords& words);

// All of it on one line: joined by spaces, line breaks within made spaces.
std::string OnOneLine(const std::vector<std::string>& lines);

}  // namespace platen
