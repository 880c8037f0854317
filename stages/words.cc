#include "stages/words.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace platen {
namespace {

// How far a gap may lie from where widths of letters put the space, in widths of a usual letter.
constexpr double kMostShift = 2.5;

// Usual width of a letter, in halves of the width of an "n".
double WidthOf(unsigned char lead) {
  static constexpr std::string_view narrow = "iljtfrI.,;:'!|()[] ";
  static constexpr std::string_view wide = "mwMW@%";
  const char c = static_cast<char>(lead);
  if (lead >= 0xE3) return 4;  // CJK and beyond: as wide as high
  if (narrow.find(c) != std::string_view::npos) return 1;
  if (wide.find(c) != std::string_view::npos) return 3;
  return c >= 'A' && c <= 'Z' ? 2.5 : 2;
}

bool StartsCharacter(unsigned char byte) { return (byte & 0xC0) != 0x80; }

// A word in bytes of the text and, by widths of letters, as shares of the line.
struct Span {
  int begin = 0, end = 0;
  double left = 0, right = 0;
};

// `letter`: the width of a usual letter as a share of the line.
std::vector<Span> SpansOf(std::string_view text, double& letter) {
  std::vector<Span> spans;
  double at = 0;
  bool in_word = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!StartsCharacter(static_cast<unsigned char>(text[i]))) continue;
    const double width = WidthOf(static_cast<unsigned char>(text[i]));
    if (text[i] == ' ') {
      if (in_word) {
        spans.back().end = static_cast<int>(i);
        spans.back().right = at;
      }
      in_word = false;
    } else if (!in_word) {
      spans.push_back({static_cast<int>(i), static_cast<int>(text.size()), at, 0});
      in_word = true;
    }
    at += width;
  }
  if (in_word) spans.back().right = at;
  for (Span& span : spans) {
    span.left /= at;
    span.right /= at;
  }
  letter = at > 0 ? 2 / at : 0;
  return spans;
}

// Moves the ends of words to gaps, if every space has one of its own.
void SnapToGaps(std::span<const WordGap> gaps, double letter, std::vector<Span>& spans) {
  if (spans.empty()) return;
  std::vector<WordGap> chosen;
  size_t next = 0;
  for (size_t i = 0; i + 1 < spans.size(); ++i) {
    const double expected = (spans[i].right + spans[i + 1].left) / 2;
    const auto distance = [&](const WordGap& gap) {
      return std::abs((static_cast<double>(gap.start) + static_cast<double>(gap.end)) / 2 -
                      expected);
    };
    size_t best = next;
    while (best + 1 < gaps.size() && distance(gaps[best + 1]) < distance(gaps[best])) ++best;
    if (best >= gaps.size() || distance(gaps[best]) > kMostShift * letter) return;
    chosen.push_back(gaps[best]);
    next = best + 1;
  }
  for (size_t i = 0; i < chosen.size(); ++i) {
    spans[i].right = std::max(spans[i].left, static_cast<double>(chosen[i].start));
    spans[i + 1].left = std::max(spans[i].right, static_cast<double>(chosen[i].end));
  }
  spans.back().right = std::max(spans.back().left, spans.back().right);
}

double ConfidenceOf(const Span& span, std::span<const TokenResult> tokens) {
  double least = 2;
  int begin = 0;
  for (const TokenResult& token : tokens) {
    const bool overlaps = token.end > span.begin && begin < span.end;
    if (overlaps) least = std::min(least, token.probability);
    begin = token.end;
  }
  return least <= 1 ? least : 0;
}

ResultPoint Between(const ResultPoint& a, const ResultPoint& b, double share) {
  return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

}  // namespace

std::vector<WordResult> EstimateWords(std::string_view text, std::span<const TokenResult> tokens,
                                      const std::array<ResultPoint, 4>& quad,
                                      std::span<const WordGap> gaps) {
  double letter = 0;
  std::vector<Span> spans = SpansOf(text, letter);
  SnapToGaps(gaps, letter, spans);
  std::vector<WordResult> words;
  for (const Span& span : spans) {
    WordResult word;
    word.begin = span.begin;
    word.end = span.end;
    word.quad = {Between(quad[0], quad[1], span.left), Between(quad[0], quad[1], span.right),
                 Between(quad[3], quad[2], span.right), Between(quad[3], quad[2], span.left)};
    word.confidence = ConfidenceOf(span, tokens);
    words.push_back(word);
  }
  return words;
}

}  // namespace platen
