// Words that a page's own text gives to the regions and lines that the layout has found.
#pragma once

#include <vector>

#include "stages/assemble.h"
#include "stages/layout/layout.h"
#include "stages/readers/page_text.h"

namespace platen {

// Words of a page of `width` x `height` pixels, when it is turned clockwise by 0, 90, 180 or 270
// degrees. Words whose centre lies beyond the page cannot be seen and are left out; the others are
// cut to the page, and are a pixel wide and high at least.
std::vector<LayerWord> UprightWords(const PageText& layer, int width, int height, int degrees);

// The layer's text in the place of what would be read.
struct PlacedText {
  PageLayout layout;                  // with the regions and lines that words have added
  std::vector<CropReading> readings;  // of each line that has words, in the order of the layout
  // By region and line: words stand there, its own or others that cover half of it.
  std::vector<std::vector<bool>> covered;
  double ink_with_words = 0;  // of the lines found in ink, the share that has words
  double words_with_ink = 0;  // of the words, the share that stand on such lines
};

// Each word goes to one line, and is in its text once:
// - to the line it overlaps most, if half of it or more lies beside and half of the lower one's
//   height within it;
// - else to a line of the layer's own in the smallest region that is to be read, has no table and
//   contains its centre;
// - else, and if its line of the layer runs up or down the page, to a region of its own, with the
//   other such words of its block.
// In a line words stand from left to right, but those of one line of the layer as the layer has
// them. New lines and regions stand behind what stands above them. `words` are upright. Pure.
PlacedText PlaceWords(const std::vector<LayerWord>& words, const PageLayout& layout);

// Regions whose lines are all covered are not to be read any more.
PageLayout WhatIsLeft(const PlacedText& text);
// Whether there is no need to read the crop: its line, or a line of its region, is covered.
bool IsCovered(const PlacedText& text, const CropOrigin& crop);

// Whether the words are text that somebody can read: characters are known (not U+FFFD, for private
// use or controls, but for one in a hundred), and half of them or more are letters or digits.
bool IsText(const std::vector<LayerWord>& words);

// Whether the page's own text can stand for what is on it: it is text, no picture covers the page,
// lines with ink have words (0.8 of their length), and words have ink (half of them).
bool IsWhole(const PageText& layer, const PlacedText& text);

}  // namespace platen
