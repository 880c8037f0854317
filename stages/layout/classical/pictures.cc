#include "stages/layout/classical/pictures.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <opencv2/imgproc.hpp>

#include "stages/layout/classical/cells.h"
#include "stages/layout/classical/paper_tone.h"
#include "stages/layout/components.h"

namespace platen::layout {
namespace {

constexpr size_t kFewestLetters = 6;  // to tell print from texture
constexpr double kSameHeight = 0.35;  // of the median letter: heights within this are one
constexpr double kRegular = 0.72;     // of print at least; see Regularity
// Inside a picture only lines as regular as this, and of so many letters, are print.
constexpr double kRegularInPicture = 0.85;
constexpr size_t kLettersInPicture = 8;
// Of short words, in letter heights.
constexpr double kHighestLetter = 2.2;
constexpr double kLowestLetter = 0.8;
constexpr double kUneven = 0.3;   // between the lower ends of their letters
constexpr double kInside = 0.35;  // share of a line that lies in the picture
// In cells of a letter height unless said otherwise.
constexpr int kWindow = 13;          // ink is weighed in windows of this side
constexpr double kLeastInk = 0.035;  // of a window's pixels that are ink of no line
constexpr double kToneReach = 5;     // print leaves paper to be seen within this
constexpr double kTone = 0.75;       // of the paper's tone: darker is continuous tone
constexpr double kToned = 0.5;       // of a picture's box: it is a photograph, not a drawing
constexpr int kLeastSide = 7;
constexpr double kRectangle = 0.45;  // a picture that fills so much of its box has its shape
constexpr int kRim = 3;              // around a photograph: blurred, framed, shadowed
constexpr int kHoles = 5;            // lighter places up to this size belong to the picture

// The largest share of the values that two windows of width `reach` hold.
double ShareOfTwoHeights(std::vector<double> values, double reach) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  // best[i]: most values in one window that starts at i or later.
  std::vector<size_t> best(n + 1, 0);
  size_t most = 0;
  for (size_t i = n; i-- > 0;) {
    const auto end = static_cast<size_t>(
        std::upper_bound(values.begin(), values.end(), values[i] + reach) - values.begin());
    best[i] = std::max(best[i + 1], end - i);
    most = std::max(most, end - i + best[end]);
  }
  return static_cast<double>(most) / static_cast<double>(n);
}

cv::Rect CellsOf(const Box& box, double cell, cv::Size grid) {
  const auto at = [&](double v) { return static_cast<int>(std::floor(v / cell)); };
  const cv::Point first(at(box.x0), at(box.y0)), last(at(box.x1 - 1e-3), at(box.y1 - 1e-3));
  return cv::Rect(first, last + cv::Point(1, 1)) & cv::Rect({0, 0}, grid);
}

// Where no paper is to be seen over several lines: photographs, halftones, painted ground.
cv::Mat ContinuousTone(const cv::Mat& grey_cells) {
  const int side = static_cast<int>(kToneReach) | 1;
  cv::Mat tone;
  cv::morphologyEx(grey_cells, tone, cv::MORPH_CLOSE, Square(side));  // dark strokes go
  cv::Mat share;
  cv::divide(tone, PaperTone(tone), share, 1.0, CV_32F);
  return share < kTone;
}

// Few letters: they must stand on one height and be as high as letters are.
bool IsShortWord(const Phrase& line, double xh) {
  double lowest = 0, highest = 1e9, top = 1e9;
  for (const Box& b : line.letters) {
    if (b.height() > kHighestLetter * xh) return false;
    lowest = std::max(lowest, b.y1);
    highest = std::min(highest, b.y1);
    top = std::min(top, b.y0);
  }
  return lowest - highest < kUneven * xh && lowest - top > kLowestLetter * xh;
}

bool LooksWritten(const Phrase& line, double xh) {
  if (line.letters.size() < kFewestLetters) return IsShortWord(line, xh);
  return Regularity(line) >= kRegular;
}

// Where most ink belongs to no regular line. `ink`: shares per cell, 0..1.
cv::Mat Drawing(const cv::Mat& ink, const std::vector<Phrase>& lines, double cell) {
  cv::Mat written(ink.size(), CV_32F, cv::Scalar(0));
  for (const Phrase& line : lines) {
    if (!LooksWritten(line, cell)) continue;
    const cv::Rect cells = CellsOf(line.box, cell, ink.size());
    if (cells.empty()) continue;  // behind the last whole cell
    ink(cells).copyTo(written(cells));
  }
  cv::Mat all_around, written_around;
  cv::boxFilter(ink, all_around, CV_32F, cv::Size(kWindow, kWindow));
  cv::boxFilter(written, written_around, CV_32F, cv::Size(kWindow, kWindow));
  const cv::Mat drawn_around = all_around - written_around;
  const cv::Mat drawing = (drawn_around > kLeastInk) & (drawn_around > written_around);
  cv::Mat drawn = (ink - written) > kLeastInk;  // the window reaches beyond the drawing
  cv::morphologyEx(drawn, drawn, cv::MORPH_CLOSE, Square(kHoles));
  return drawing & drawn;
}

// Boxes that overlap are parts of one picture.
void JoinOverlapping(std::vector<Box>& boxes) {
  for (size_t i = 0; i < boxes.size();) {
    const auto other = std::find_if(
        boxes.begin() + static_cast<std::ptrdiff_t>(i) + 1, boxes.end(),
        [&](const Box& b) { return OverlapX(boxes[i], b) > 0 && OverlapY(boxes[i], b) > 0; });
    if (other == boxes.end()) {
      ++i;
      continue;
    }
    boxes[i] = Union(boxes[i], *other);
    boxes.erase(other);
    i = 0;  // it may overlap earlier ones now
  }
}

// Clears the mask but for areas that are large enough, and notes their boxes. `tone`: 255 where
// there is continuous tone.
void KeepLargeAreas(const cv::Mat& tone, cv::Mat& mask, Pictures& pictures) {
  cv::morphologyEx(mask, mask, cv::MORPH_OPEN, Square(kLeastSide / 2));
  cv::morphologyEx(mask, mask, cv::MORPH_CLOSE, Square(kHoles));
  const Components areas = FindComponents(mask);
  for (const Component& area : areas.items) {
    const cv::Rect box = area.rect();
    if (box.width < kLeastSide || box.height < kLeastSide) {
      areas.Paint(area, 0, mask);
      continue;
    }
    if (area.area > kRectangle * box.area()) mask(box).setTo(1);
    const double cell = pictures.cell;
    pictures.boxes.push_back({box.x * cell, box.y * cell, box.br().x * cell, box.br().y * cell});
    if (cv::mean(tone(box))[0] > kToned * 255) pictures.toned.push_back(pictures.boxes.back());
  }
}

// Strokes drawn in a diagram may be its labels; what looks like a few letters in or across the edge
// of a photograph is none.
bool IsTexture(const Pictures& pictures, const Phrase& line) {
  if (line.letters.size() >= kFewestLetters) return false;
  return std::any_of(pictures.toned.begin(), pictures.toned.end(), [&](const Box& b) {
    return OverlapX(line.box, b) > 0 && OverlapY(line.box, b) > 0;
  });
}

}  // namespace

double Regularity(const Phrase& line) {
  if (line.letters.size() < kFewestLetters) return 1;
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(line.letters.size());
  std::vector<double> heights;
  for (const Box& b : line.letters) {
    mean_x += b.center_x() / n;
    mean_y += b.y1 / n;
    heights.push_back(b.height());
  }
  for (const Box& b : line.letters) {
    xx += (b.center_x() - mean_x) * (b.center_x() - mean_x);
    xy += (b.center_x() - mean_x) * (b.y1 - mean_y);
  }
  const double slope = xx > 0 ? std::clamp(xy / xx, -0.05, 0.05) : 0;
  std::vector<double> tops, bottoms;
  for (const Box& b : line.letters) {
    const double lift = slope * (b.center_x() - mean_x);
    tops.push_back(b.y0 - lift);
    bottoms.push_back(b.y1 - lift);
  }
  const double reach = kSameHeight * Median(std::move(heights));
  return std::min(ShareOfTwoHeights(std::move(tops), reach),
                  ShareOfTwoHeights(std::move(bottoms), reach));
}

double Pictures::Cover(const Box& box) const {
  if (cells.empty()) return 0;
  const cv::Rect covered = CellsOf(box, cell, cells.size());
  return covered.empty() ? 0 : cv::mean(cells(covered))[0];
}

Pictures FindPictures(const cv::Mat& cells, const cv::Mat& ink, const FoundParts& found,
                      double letter_height) {
  Pictures pictures;
  pictures.cell = letter_height;
  const cv::Size grid = cells.size();
  cv::Mat ink_share;
  CellMeans(ink * 255, letter_height).convertTo(ink_share, CV_32F, 1 / 255.0);

  const cv::Mat tone = ContinuousTone(cells);
  cv::Mat mask = (tone | Drawing(ink_share, found.lines, letter_height)) & 1;
  // Photographs are known by their outline; what is found beside one is no part of it.
  for (const Box& box : found.photographs) {
    cv::Rect around = CellsOf(box, pictures.cell, grid);
    around -= cv::Point(kRim, kRim);
    around += cv::Size(2 * kRim, 2 * kRim);
    mask(around & cv::Rect({0, 0}, grid)).setTo(0);
  }
  KeepLargeAreas(tone, mask, pictures);
  for (const std::vector<Box>* boxes : {&found.photographs, &found.hatched}) {
    pictures.toned.insert(pictures.toned.end(), boxes->begin(), boxes->end());
  }
  for (const std::vector<Box>* boxes : {&found.photographs, &found.hatched}) {
    for (const Box& box : *boxes) mask(CellsOf(box, pictures.cell, grid)).setTo(1);
    pictures.boxes.insert(pictures.boxes.end(), boxes->begin(), boxes->end());
  }
  JoinOverlapping(pictures.boxes);
  std::sort(pictures.boxes.begin(), pictures.boxes.end(), LeftOf);
  if (!pictures.boxes.empty()) pictures.cells = mask;
  return pictures;
}

std::vector<Phrase> DropTexture(const Pictures& pictures, const std::vector<Phrase>& lines) {
  std::vector<Phrase> kept;
  for (const Phrase& line : lines) {
    const bool print =
        line.letters.size() >= kLettersInPicture && Regularity(line) >= kRegularInPicture;
    if (IsTexture(pictures, line)) continue;
    if (print || pictures.Cover(line.box) < kInside) kept.push_back(line);
  }
  return kept;
}

}  // namespace platen::layout
