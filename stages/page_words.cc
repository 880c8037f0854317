#include "stages/page_words.h"

#include <algorithm>
#include <cstdint>

#include "model/support/utf8.h"

namespace platen {
namespace {

// Shares, see the header.
constexpr double kInkWithWords = 0.8;
constexpr double kWordsWithInk = 0.5;
constexpr double kUnknown = 0.01;
constexpr double kLetters = 0.5;

struct Place {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

bool IsUnknown(uint32_t c) {
  const bool private_use = (c >= 0xE000 && c <= 0xF8FF) || c >= 0xF0000;
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xFFFD || private_use;
}

// Beyond ASCII nearly everything that stands in words is.
bool IsLetterOrDigit(uint32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (c >= 0xAA && !IsUnknown(c));
}

}  // namespace

std::vector<LayerWord> UprightWords(const PageText& layer, int width, int height, int degrees) {
  std::vector<LayerWord> words;
  const auto w = static_cast<double>(width), h = static_cast<double>(height);
  for (const LayerWord& word : layer.words) {
    const double x = (word.x0 + word.x1) / 2, y = (word.y0 + word.y1) / 2;
    if (!(x >= 0 && x < w && y >= 0 && y < h)) continue;
    Place at = {std::max(std::min(word.x0, x - 0.5), 0.0),
                std::max(std::min(word.y0, y - 0.5), 0.0), std::min(std::max(word.x1, x + 0.5), w),
                std::min(std::max(word.y1, y + 0.5), h)};
    if (degrees == 90) at = {h - at.y1, at.x0, h - at.y0, at.x1};
    if (degrees == 180) at = {w - at.x1, h - at.y1, w - at.x0, h - at.y0};
    if (degrees == 270) at = {at.y0, w - at.x1, at.y1, w - at.x0};
    words.push_back({word.text, at.x0, at.y0, at.x1, at.y1, word.line, word.block});
  }
  return words;
}

PageLayout WhatIsLeft(const PlacedText& text) {
  PageLayout left = text.layout;
  for (size_t i = 0; i < left.regions.size(); ++i) {
    const std::vector<bool>& lines = text.covered[i];
    const bool all = std::find(lines.begin(), lines.end(), false) == lines.end();
    if (!lines.empty() && all) left.regions[i].read = false;
  }
  return left;
}

bool IsCovered(const PlacedText& text, const CropOrigin& crop) {
  const std::vector<bool>& lines = text.covered.at(static_cast<size_t>(crop.region));
  if (crop.line != CropOrigin::kWholeRegion) return lines.at(static_cast<size_t>(crop.line));
  return std::find(lines.begin(), lines.end(), true) != lines.end();
}

bool IsText(const std::vector<LayerWord>& words) {
  size_t all = 0, unknown = 0, letters = 0;
  for (const LayerWord& word : words) {
    for (const uint32_t c : CodePoints(word.text)) {
      ++all;
      unknown += IsUnknown(c);
      letters += IsLetterOrDigit(c);
    }
  }
  const auto share = [all](double part) { return part * static_cast<double>(all); };
  return all > 0 && static_cast<double>(unknown) <= share(kUnknown) &&
         static_cast<double>(letters) >= share(kLetters);
}

bool IsWhole(const PageText& layer, const PlacedText& text) {
  return !layer.over_picture && IsText(layer.words) && text.ink_with_words >= kInkWithWords &&
         text.words_with_ink >= kWordsWithInk;
}

}  // namespace platen
