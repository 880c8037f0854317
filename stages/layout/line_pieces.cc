#include "stages/layout/line_pieces.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <tuple>

#include "stages/layout/components.h"

namespace platen::layout {
namespace {

// Share of the way from paper to ink at which a pixel counts as ink.
constexpr double kInkShare = 0.4;
constexpr double kFaintShare = 0.25;  // also the grey ends of strokes
// A gap of this many x-heights is certainly one between words.
constexpr double kWordGap = 0.6;
// Paper that a piece keeps at a gap, in x-heights: as much as a line has at its ends.
constexpr double kGapPaper = 0.3;
// Foreign ink: what starts this far below the baseline (x-heights) and leaves the strip or is as
// long as a ruling. Descenders hang from letters, commas end inside the strip.
constexpr double kTailsStart = 0.1;
constexpr double kRulingLength = 2.5;
// Costs of a cut: through a gap narrower than that, by how much; through a word.
constexpr double kNarrowGapCost = 1.0;
constexpr double kCutWordCost = 4.0;
constexpr int kWordCutStep = 4;  // pixels between possible cuts through a word

// Value below which the share `q` of the pixels of one channel lies.
int ChannelQuantile(const std::array<int64_t, 256>& histogram, double q) {
  int64_t total = 0;
  for (int64_t n : histogram) total += n;
  const auto rank = static_cast<int64_t>(q * static_cast<double>(total - 1));
  int value = 0;
  for (int64_t seen = histogram[0]; seen <= rank; seen += histogram[value]) ++value;
  return value;
}

bool ColumnHasInk(const cv::Mat& grey, int x, int top, int bottom, int threshold) {
  for (int y = top; y < bottom; ++y) {
    if (grey.at<uint8_t>(y, x) < threshold) return true;
  }
  return false;
}

struct Cut {
  int left_end, right_start;  // the gap: pieces end and start here
  double cost;
};

// Grey values below this are ink, if ink starts this share of the way from paper.
int InkThreshold(const Tones& tones, double share) {
  return static_cast<int>(tones.paper_grey - share * (tones.paper_grey - tones.ink_grey));
}

// Calls `visit(start, end)` for every white gap inside the text.
template <typename Visit>
void ForEachGap(const cv::Mat& strip, const Tones& tones, const StripGeometry& geometry, Piece text,
                const Visit& visit) {
  cv::Mat grey;
  cv::cvtColor(strip, grey, cv::COLOR_RGB2GRAY);
  // Ascenders of this line, not the descenders of the line above.
  const int top =
      std::clamp(static_cast<int>(geometry.baseline - 1.5 * geometry.x_height), 0, grey.rows);
  const int bottom =
      std::clamp(static_cast<int>(geometry.baseline + 0.3 * geometry.x_height), top, grey.rows);
  const int threshold = InkThreshold(tones, kInkShare);
  int gap_start = -1;
  bool seen_ink = false;
  for (int x = text.start; x < text.end; ++x) {
    if (!ColumnHasInk(grey, x, top, bottom, threshold)) {
      if (gap_start < 0) gap_start = x;
      continue;
    }
    if (gap_start >= 0 && seen_ink) visit(gap_start, x);
    gap_start = -1;
    seen_ink = true;
  }
}

// Every white gap inside the text, and its two ends as cuts without cost.
std::vector<Cut> FindGaps(const cv::Mat& strip, const Tones& tones, const StripGeometry& geometry,
                          Piece text) {
  std::vector<Cut> gaps = {{text.start, text.start, 0}};
  ForEachGap(strip, tones, geometry, text, [&](int start, int end) {
    const double share = (end - start) / (kWordGap * geometry.x_height);
    // Both pieces keep a little of the paper between them.
    const int paper = std::min((end - start) / 2, static_cast<int>(kGapPaper * geometry.x_height));
    gaps.push_back({start + paper, end - paper, kNarrowGapCost * std::max(0.0, 1 - share)});
  });
  gaps.push_back({text.end, text.end, 0});
  return gaps;
}

// Cuts through words, every few pixels, for lines without usable gaps.
std::vector<Cut> WithWordCuts(const std::vector<Cut>& gaps, Piece text) {
  std::vector<Cut> cuts = gaps;
  for (int x = text.start + kWordCutStep; x < text.end; x += kWordCutStep) {
    cuts.push_back({x, x, kCutWordCost});
  }
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
    return std::tie(a.right_start, a.cost) < std::tie(b.right_start, b.cost);
  });
  return cuts;
}

// The cheapest way to cut at `cuts` into exactly n pieces: the cost of the cuts and of unequal
// widths. Empty if there is none.
std::vector<Piece> CheapestPieces(const std::vector<Cut>& cuts, int n, int max_width) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const size_t m = cuts.size();
  const double mean = static_cast<double>(cuts.back().left_end - cuts.front().right_start) / n;
  // cost[k][j]: k pieces that end at cut j; from[k][j]: where the last of them starts.
  std::vector<std::vector<double>> cost(n + 1, std::vector<double>(m, kNone));
  std::vector<std::vector<size_t>> from(n + 1, std::vector<size_t>(m, 0));
  cost[0][0] = 0;
  for (int k = 1; k <= n; ++k) {
    for (size_t j = 1; j < m; ++j) {
      for (size_t i = j; i-- > 0;) {
        const int width = cuts[j].left_end - cuts[i].right_start;
        if (width > max_width) break;
        if (width <= 0 || cost[k - 1][i] == kNone) continue;
        const double unequal = width / mean - 1;
        const double total = cost[k - 1][i] + unequal * unequal + cuts[j].cost;
        if (total < cost[k][j]) {
          cost[k][j] = total;
          from[k][j] = i;
        }
      }
    }
  }
  if (cost[n][m - 1] == kNone) return {};
  std::vector<Piece> pieces(n);
  for (size_t k = n, j = m - 1; k > 0; --k) {
    const size_t i = from[k][j];
    pieces[k - 1] = {cuts[i].right_start, cuts[j].left_end};
    j = i;
  }
  return pieces;
}

}  // namespace

Tones MeasureTones(const cv::Mat& strip) {
  std::array<std::array<int64_t, 256>, 3> channels = {};
  std::array<int64_t, 256> greys = {};
  for (int y = 0; y < strip.rows; ++y) {
    const auto* row = strip.ptr<cv::Vec3b>(y);
    for (int x = 0; x < strip.cols; ++x) {
      for (int c = 0; c < 3; ++c) ++channels[c][row[x][c]];
      ++greys[(row[x][0] + 2 * row[x][1] + row[x][2]) / 4];
    }
  }
  Tones tones;
  for (int c = 0; c < 3; ++c) {
    tones.paper[c] = static_cast<uint8_t>(ChannelQuantile(channels[c], 0.6));
  }
  tones.paper_grey = ChannelQuantile(greys, 0.6);
  tones.ink_grey = ChannelQuantile(greys, 0.02);
  return tones;
}

void EraseForeignInk(const Tones& tones, const StripGeometry& geometry, double ascent,
                     cv::Mat& strip) {
  cv::Mat ink;
  cv::cvtColor(strip, ink, cv::COLOR_RGB2GRAY);
  cv::threshold(ink, ink, InkThreshold(tones, kFaintShare) - 1, 255, cv::THRESH_BINARY_INV);
  const Components components = FindComponents(ink);
  cv::Mat foreign(ink.size(), CV_8U, cv::Scalar(0));
  for (const Component& c : components.items) {
    const bool below = c.y > geometry.baseline + kTailsStart * geometry.x_height;
    const bool above = c.y + c.height < geometry.baseline - ascent;
    const bool ruling = c.width > kRulingLength * geometry.x_height;
    const bool enters_below = below && (ruling || c.y + c.height == strip.rows);
    const bool enters_above = above && (ruling || c.y == 0);
    if (!enters_below && !enters_above) continue;
    components.Paint(c, 255, foreign);
  }
  cv::dilate(foreign, foreign, cv::Mat(3, 3, CV_8U, cv::Scalar(1)));  // with its grey edge
  strip.setTo(cv::Scalar(tones.paper[0], tones.paper[1], tones.paper[2]), foreign);
}

std::vector<Piece> CutAtWordGaps(const cv::Mat& strip, const Tones& tones,
                                 const StripGeometry& geometry, Piece text, int max_width) {
  assert(max_width >= 16);
  const int width = text.end - text.start;
  if (width <= max_width) return {text};
  const std::vector<Cut> gaps = FindGaps(strip, tones, geometry, text);
  const int fewest = (width + max_width - 1) / max_width;
  for (int n = fewest; n <= fewest + 3; ++n) {
    std::vector<Piece> pieces = CheapestPieces(gaps, n, max_width);
    if (!pieces.empty()) return pieces;
  }
  const std::vector<Cut> cuts = WithWordCuts(gaps, text);
  for (int n = fewest;; ++n) {
    std::vector<Piece> pieces = CheapestPieces(cuts, n, max_width);
    if (!pieces.empty()) return pieces;
  }
}

std::vector<Piece> WordGaps(const cv::Mat& strip, const Tones& tones, const StripGeometry& geometry,
                            Piece text) {
  std::vector<Piece> gaps;
  ForEachGap(strip, tones, geometry, text, [&](int start, int end) {
    if (end - start >= kWordGap / 2 * geometry.x_height) gaps.push_back({start, end});
  });
  return gaps;
}

cv::Mat CropPiece(const cv::Mat& strip, const Tones& tones, Piece piece, int reach, int width) {
  cv::Mat grey;
  cv::cvtColor(strip, grey, cv::COLOR_RGB2GRAY);
  const int threshold = InkThreshold(tones, kInkShare);
  const int side = std::max(0, (width - (piece.end - piece.start)) / 2);
  const int most = std::min(reach, side);
  const auto white = [&](int x) {
    return x >= 0 && x < grey.cols && !ColumnHasInk(grey, x, 0, grey.rows, threshold);
  };
  int start = piece.start, end = piece.end;
  while (piece.start - start < most && white(start - 1)) --start;
  while (end - piece.end < most && white(end)) ++end;
  cv::Mat crop(strip.rows, width, CV_8UC3,
               cv::Scalar(tones.paper[0], tones.paper[1], tones.paper[2]));
  const int at = side - (piece.start - start);
  end = std::min(end, start + width - at);
  strip.colRange(start, end).copyTo(crop.colRange(at, at + end - start));
  return crop;
}

}  // namespace platen::layout
