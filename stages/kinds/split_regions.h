// Regions of text parted into headings, list items and text.
#pragma once

#include <cstddef>

#include "stages/formats/page_result.h"
#include "stages/kinds/print_size.h"

namespace platen {

// x-height of headings, in that of the text they stand over.
inline constexpr double kHeadingSize = 1.15;

// Whether print is larger or bolder than other print, or a little of both.
bool StandsOut(const Print& print, const Print& other);

// Plain text that was read line by line: what its kind can be told of.
bool IsPlainText(const RegionResult& region);

// Lines `begin` to `end` of a region as one of their own.
RegionResult PartOf(const RegionResult& region, size_t begin, size_t end);

// The lines of a region below those of another.
void AppendRegion(const RegionResult& from, RegionResult& into);

// Where a line stands, from above: its baseline, or its lower edge if that was not measured.
double BottomOf(const LineResult& line);

// Regions whose first line is larger or bolder than the rest become two: a heading close to its
// text.
void SplitHeads(PageResult& page);

// Regions whose lines begin with marks become one for each item. `body`: the page's print.
void SplitLists(const Print& body, PageResult& page);

// Text below an item that is set in under the item's own joins it.
void JoinItems(const Print& body, PageResult& page);

}  // namespace platen
