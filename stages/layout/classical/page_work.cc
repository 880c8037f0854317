#include "stages/layout/classical/page_work.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "stages/layout/classical/binarise.h"
#include "stages/layout/classical/cells.h"
#include "stages/layout/classical/charts.h"
#include "stages/layout/classical/check_boxes.h"
#include "stages/layout/classical/faint_marks.h"
#include "stages/layout/classical/false_lines.h"
#include "stages/layout/classical/gutters.h"
#include "stages/layout/classical/hatching.h"
#include "stages/layout/classical/ink_sums.h"
#include "stages/layout/classical/letter_height.h"
#include "stages/layout/classical/letters.h"
#include "stages/layout/classical/lines.h"
#include "stages/layout/classical/photographs.h"
#include "stages/layout/classical/pictures.h"
#include "stages/layout/classical/rulings.h"
#include "stages/layout/classical/skew.h"
#include "stages/layout/classical/specks.h"
#include "stages/layout/classical/stripes.h"

namespace platen::layout {
namespace {

constexpr double kLongSide = 2400;  // pixels: A4 at 205 dpi
// Letters outside this range are measured again at the scale that makes them kBestLetters high.
constexpr double kLowestLetters = 9;
constexpr double kHighestLetters = 34;
constexpr double kBestLetters = 16;
constexpr double kSmallestScale = 0.15;
constexpr double kLargestScale = 3.0;
constexpr double kLongestSide = 5200;  // pixels, after scaling again
constexpr size_t kMostComponents = 200'000;
// Noise: so many components, and LineContrast below this; or so many lines.
constexpr size_t kNoiseComponents = 2'000;
constexpr double kNoiseContrast = 1.6;
constexpr size_t kMostLines = 3'000;
constexpr double kSmallestSkew = 0.08;  // degrees: less moves nothing by a pixel

cv::Mat Scaled(const cv::Mat& grey, double scale) {
  if (scale == 1) return grey;
  const cv::Size size(std::max(1, static_cast<int>(std::nearbyint(grey.cols * scale))),
                      std::max(1, static_cast<int>(std::nearbyint(grey.rows * scale))));
  cv::Mat scaled;
  cv::resize(grey, scaled, size, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_CUBIC);
  return scaled;
}

std::optional<WorkingPage> PrepareAt(const cv::Mat& grey, double scale) {
  WorkingPage page;
  page.scale = scale;
  page.grey = Scaled(grey, scale);
  page.flat = FlattenLight(page.grey);
  page.ink = Binarise(page.flat);
  page.components = FindComponents(page.ink);
  if (page.components.items.size() > kMostComponents) {
    cv::medianBlur(page.flat, page.flat, 3);
    page.ink = Binarise(page.flat);
    page.components = FindComponents(page.ink);
  }
  if (page.components.items.size() > kMostComponents) return page;
  const std::optional<double> letter_height = LetterHeight(page.components.items);
  if (!letter_height) return std::nullopt;
  page.letter_height = *letter_height;
  return page;
}

// Turns the page so that its lines lie along the rows. Returns the turn.
cv::Matx23d Straighten(double skew_degrees, WorkingPage& page) {
  if (std::abs(skew_degrees) < kSmallestSkew) return cv::Matx23d(1, 0, 0, 0, 1, 0);
  const cv::Point2f center(static_cast<float>(page.flat.cols) / 2,
                           static_cast<float>(page.flat.rows) / 2);
  const cv::Matx23d turn = cv::getRotationMatrix2D_(center, skew_degrees, 1.0);
  for (cv::Mat* image : {&page.flat, &page.grey}) {
    cv::Mat straight;
    cv::warpAffine(*image, straight, turn, image->size(), cv::INTER_LINEAR, cv::BORDER_CONSTANT,
                   cv::Scalar::all(255));
    *image = straight;
  }
  page.ink = Binarise(page.flat);
  return turn;
}

// Ink in the boxes of each line's letters.
void MeasureWeights(const InkSums& ink, std::vector<Phrase>& lines) {
  for (Phrase& line : lines) {
    double area = 0, inked = 0;
    for (const Box& b : line.letters) {
      inked += ink.In(static_cast<int>(b.x0), static_cast<int>(b.y0), static_cast<int>(b.x1),
                      static_cast<int>(b.y1));
      area += b.width() * b.height();
    }
    line.weight = area > 0 ? inked / area : 0;
  }
}

bool IsIn(const std::vector<Box>& areas, const Box& letter) {
  return std::any_of(areas.begin(), areas.end(), [&](const Box& area) {
    return letter.center_x() > area.x0 && letter.center_x() < area.x1 &&
           letter.center_y() > area.y0 && letter.center_y() < area.y1;
  });
}

// Takes out the letters within the areas.
Letters TakeLettersIn(const std::vector<Box>& areas, Letters& letters) {
  Letters inside;
  const auto move = [&](std::vector<Box>& from, std::vector<Box>& to) {
    const auto taken = std::stable_partition(from.begin(), from.end(),
                                             [&](const Box& b) { return !IsIn(areas, b); });
    to.assign(taken, from.end());
    from.erase(taken, from.end());
  };
  move(letters.core, inside.core);
  move(letters.tall, inside.tall);
  move(letters.small, inside.small);
  return inside;
}

// The lines that letters make. Takes the scratches out of `verticals`.
std::vector<Phrase> LinesOf(const Letters& letters, const Gutters& gutters, double xh,
                            std::vector<Ruling>& verticals) {
  const std::vector<Phrase> phrases = FindPhrases(letters, gutters, xh);
  verticals = WithoutScratches(verticals, phrases, xh);
  std::vector<Phrase> lines = CutAtColumns(JoinPhrases(phrases, gutters, verticals, xh), xh);
  AddSmallMarks(letters.small, xh, lines);
  AddBullets(letters.small, xh, lines);
  return lines;
}

// Puts the lines in the order of the blocks.
void TakeInOrder(std::vector<Phrase>& lines, PageLines& found) {
  std::vector<int> place(lines.size(), 0);
  for (const PageBlock& block : found.blocks) {
    for (int i : block.lines) {
      place[static_cast<size_t>(i)] = static_cast<int>(found.lines.size());
      found.lines.push_back(std::move(lines[static_cast<size_t>(i)]));
    }
  }
  const auto renumber = [&](std::vector<int>& indices) {
    for (int& i : indices) i = place[static_cast<size_t>(i)];
  };
  for (PageBlock& block : found.blocks) {
    renumber(block.lines);
    if (!block.grid) continue;
    for (GridCell& cell : block.grid->cells) renumber(cell.lines);
  }
}

}  // namespace

std::optional<WorkingPage> PrepareWorkingPage(const cv::Mat& grey) {
  const double long_side = std::max(grey.rows, grey.cols);
  const double scale = std::min(1.0, kLongSide / long_side);
  std::optional<WorkingPage> page = PrepareAt(grey, scale);
  if (!page || page->letter_height == 0) return page;
  if (page->letter_height >= kLowestLetters && page->letter_height <= kHighestLetters) return page;
  const double better =
      std::clamp(scale * kBestLetters / page->letter_height, kSmallestScale, kLargestScale);
  if (std::abs(better / scale - 1) <= 0.2 || long_side * better >= kLongestSide) return page;
  return PrepareAt(grey, better);
}

PageLines FindLines(WorkingPage& page) {
  const double xh = page.letter_height;
  PageLines found;
  found.skew_degrees = FindSkew(page.components.items, xh);
  if (page.components.items.size() > kNoiseComponents &&
      LineContrast(page.components.items, xh, found.skew_degrees) < kNoiseContrast) {
    found.noise = true;
    return found;
  }
  found.to_straight = Straighten(found.skew_degrees, page);
  const std::vector<Box> marks = RemoveFaintMarks(page.flat, xh, page.ink);
  Rulings rulings = RemoveRulings(xh, page.ink);
  page.components = FindComponents(page.ink);
  RemoveSpecks(xh, page.ink, page.components);
  Letters letters = FindLetters(page.components, xh, found.skew_degrees);
  const cv::Size size = page.ink.size();
  const cv::Mat cells = CellMeans(page.grey, xh);
  const std::vector<Box> photographs = FindPhotographs(page.grey, cells, xh);
  Letters pictured = TakeLettersIn(photographs, letters);
  std::vector<FoundCheckBox> check_boxes = FindCheckBoxes(page.ink, page.components, xh);
  TakeCheckBoxes(xh, check_boxes, letters);
  ReachOverPoints(xh, letters);

  std::vector<Box> print = letters.core;
  print.insert(print.end(), photographs.begin(), photographs.end());
  const std::vector<Box> stripes = TakeStripes(letters.core, size.height, xh, rulings.down);
  const Gutters gutters(print, stripes, size, xh);
  std::vector<Phrase> lines = LinesOf(letters, gutters, xh, rulings.down);
  MarkLines(check_boxes, xh, lines);
  std::vector<Ruling> none;
  for (Phrase& line : LinesOf(pictured, gutters, xh, none)) lines.push_back(std::move(line));
  lines = DropFalseLines(lines, {size, xh, found.skew_degrees});
  const InkSums ink_sums(page.ink);
  const std::vector<Box> hatched = HatchedAreas(ink_sums, lines, xh);
  Pictures pictures = FindPictures(cells, page.ink, {lines, photographs, hatched}, xh);
  lines = DropTexture(pictures, lines);
  CompleteCharts(rulings, xh, pictures.boxes, lines);
  pictures.boxes.insert(pictures.boxes.end(), marks.begin(), marks.end());

  if (lines.size() > kMostLines) {
    found.noise = true;
    return found;
  }

  MeasureWeights(ink_sums, lines);
  std::vector<Box> boxes;
  for (const Phrase& line : lines) boxes.push_back(line.box);
  found.blocks = PageBlocks({boxes, rulings, pictures.boxes}, xh);
  TakeInOrder(lines, found);
  found.small = std::move(letters.small);
  return found;
}

}  // namespace platen::layout
