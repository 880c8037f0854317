// The embedded detector: classical image processing, no model file.
#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <utility>

#include "stages/layout/classical/blocks.h"
#include "stages/layout/classical/broken_strokes.h"
#include "stages/layout/classical/dark_ground.h"
#include "stages/layout/classical/line_metrics.h"
#include "stages/layout/classical/orientation.h"
#include "stages/layout/classical/page_work.h"
#include "stages/layout/classical/quads.h"
#include "stages/layout/layout.h"
#include "stages/layout/regions.h"

namespace platen {
namespace {

using layout::PageLines;
using layout::Phrase;
using layout::WorkingPage;

cv::Mat ToGrey(const Image& page) {
  const cv::Mat rgb(page.height, page.width, CV_8UC3, const_cast<uint8_t*>(page.rgb.data()));
  cv::Mat grey;
  cv::cvtColor(rgb, grey, cv::COLOR_RGB2GRAY);
  return grey;
}

BoxF BoundsOf(const std::array<PointF, 4>& quad, cv::Size page) {
  BoxF box = {quad[0].x, quad[0].y, quad[0].x, quad[0].y};
  for (const PointF& p : quad) {
    box = {std::min(box.x0, p.x), std::min(box.y0, p.y), std::max(box.x1, p.x),
           std::max(box.y1, p.y)};
  }
  const auto width = static_cast<float>(page.width), height = static_cast<float>(page.height);
  return {std::clamp(box.x0, 0.f, width), std::clamp(box.y0, 0.f, height),
          std::clamp(box.x1, 0.f, width), std::clamp(box.y1, 0.f, height)};
}

// Takes lines from working pixels of the straightened page to page pixels.
class LineWriter {
 public:
  LineWriter(const WorkingPage& work, const PageLines& found, cv::Size page)
      : page_(page), scale_(work.scale), letter_height_(work.letter_height) {
    cv::invertAffineTransform(found.to_straight, to_page_);
  }

  LayoutLine Write(const Phrase& line, double slope, const layout::LineMetrics& metrics) const {
    const layout::LineExtent extent = layout::ExtentAlong(line, slope, letter_height_);
    const auto quad = layout::LineQuad(line, slope, extent, letter_height_);
    LayoutLine out;
    for (size_t i = 0; i < quad.size(); ++i) out.quad[i] = At(quad[i].x, quad[i].y);
    out.box = BoundsOf(out.quad, page_);
    const double quad_top = extent.top - layout::kQuadPadding * letter_height_;
    out.baseline = ToPage(metrics.baseline - quad_top);
    out.letter_height = ToPage(metrics.letter_height);
    out.ascent = ToPage(metrics.ascent);
    out.descent = ToPage(metrics.descent);
    out.weight = static_cast<float>(line.weight);
    out.check_box = line.check_box;
    return out;
  }

  PointF At(double x, double y) const {
    const cv::Vec2d p = to_page_ * cv::Vec3d(x, y, 1);
    return {ToPage(p[0]), ToPage(p[1])};
  }

  std::array<PointF, 4> ToPage(const layout::Box& box) const {
    return {At(box.x0, box.y0), At(box.x1, box.y0), At(box.x1, box.y1), At(box.x0, box.y1)};
  }

  float ToPage(double working_pixels) const { return static_cast<float>(working_pixels / scale_); }

 private:
  cv::Size page_;
  double scale_;
  double letter_height_;
  cv::Matx23d to_page_;
};

// The page as one region, for models that read whole pages.
PageLayout WholePage(cv::Size size) {
  const auto width = static_cast<float>(size.width), height = static_cast<float>(size.height);
  LayoutLine line;
  line.quad = {{{0, 0}, {width, 0}, {width, height}, {0, height}}};
  line.box = {0, 0, width, height};
  PageLayout result;
  result.regions.push_back(RegionOfLines({line}, 0));
  return result;
}

void Turn(cv::RotateFlags turn, cv::Mat& grey) {
  cv::Mat turned;
  cv::rotate(grey, turned, turn);
  grey = turned;
}

cv::Mat Turned(const cv::Mat& mask, int degrees) {
  if (degrees == 0) return mask;
  cv::Mat turned;
  cv::rotate(mask, turned, degrees / 90 - 1);  // OpenCV counts 0, 1, 2 for 90, 180, 270
  return turned;
}

// `dark`: 1 where the page's ground is dark.
void MarkLightLines(const cv::Mat& dark, PageLayout& layout) {
  const cv::Rect page({0, 0}, dark.size());
  for (LayoutRegion& region : layout.regions) {
    for (LayoutLine& line : region.lines) {
      const cv::Point top_left(static_cast<int>(line.box.x0), static_cast<int>(line.box.y0));
      const cv::Point end(static_cast<int>(line.box.x1), static_cast<int>(line.box.y1));
      const cv::Rect box = cv::Rect(top_left, end) & page;
      line.light_on_dark = !box.empty() && cv::mean(dark(box))[0] > 0.5;
    }
  }
}

// The lines of a page that lies in any direction, and the turn that makes it upright.
struct UprightPage {
  layout::FoundPage found;
  int rotation = 0;
};

// Turns the page if its lines are upside down, and takes that back if they still are then.
void TurnUpsideUp(cv::Mat& grey, UprightPage& upright) {
  const layout::FoundPage& found = upright.found;
  if (!layout::IsUpsideDown(found.lines, found.page.letter_height)) return;
  cv::Mat turned;
  cv::rotate(grey, turned, cv::ROTATE_180);
  std::optional<WorkingPage> page = layout::PrepareWorkingPage(turned);
  if (!page || page->letter_height == 0) return;
  PageLines lines = layout::FindLines(*page);
  if (lines.noise || layout::IsUpsideDown(lines, page->letter_height)) return;
  grey = turned;
  upright.found = {std::move(*page), std::move(lines)};
  upright.rotation += 180;
}

// Nothing if the page shows no letters. Leaves `grey` upright.
std::optional<UprightPage> FindUpright(cv::Mat& grey) {
  std::optional<WorkingPage> page = layout::PrepareWorkingPage(grey);
  if (!page) return std::nullopt;
  UprightPage upright;
  if (page->letter_height > 0 &&
      layout::LiesOnItsSide(page->components.items, page->letter_height)) {
    Turn(cv::ROTATE_90_CLOCKWISE, grey);
    upright.rotation = 90;
    page = layout::PrepareWorkingPage(grey);
    if (!page) return std::nullopt;
  }
  upright.found.page = std::move(*page);
  if (upright.found.page.letter_height == 0) return upright;
  upright.found.lines = layout::FindLines(upright.found.page);
  if (!upright.found.lines.noise) TurnUpsideUp(grey, upright);
  return upright;
}

class ClassicalDetector : public LayoutDetector {
 public:
  PageLayout Detect(const Image& page) const override {
    if (page.empty()) return {};
    cv::Mat grey = ToGrey(page);
    const cv::Mat dark = layout::TurnDarkGround(grey);
    std::optional<UprightPage> upright = FindUpright(grey);
    if (!upright) return {};
    layout::FoundPage& found = upright->found;
    if (found.page.letter_height == 0 || found.lines.noise) return WholePage(grey.size());
    layout::MendBrokenStrokes(grey, found);
    PageLayout result = Describe(found.page, found.lines, grey.size());
    result.rotation = upright->rotation;
    if (!dark.empty()) MarkLightLines(Turned(dark, result.rotation), result);
    return result;
  }

 private:
  static PageLayout Describe(const WorkingPage& work, const PageLines& found, cv::Size page) {
    std::vector<double> slopes;
    for (const Phrase& line : found.lines) {
      slopes.push_back(layout::BaselineSlope(line, work.letter_height));
    }
    const layout::PageMetrics metrics(found.lines, slopes, work.letter_height);
    const LineWriter writer(work, found, page);
    PageLayout result;
    result.skew_degrees = static_cast<float>(found.skew_degrees);
    result.letter_height = writer.ToPage(metrics.x_height());
    const auto line_at = [&](int i) {
      const Phrase& line = found.lines[static_cast<size_t>(i)];
      const double slope = slopes[static_cast<size_t>(i)];
      return writer.Write(line, slope, metrics.Measure(line, slope));
    };
    for (const layout::PageBlock& block : found.blocks) {
      if (block.grid) {
        result.regions.push_back(TableRegion(block, writer, line_at, found.skew_degrees));
        continue;
      }
      if (block.lines.empty()) {
        result.regions.push_back(Picture(block, writer, page));
        continue;
      }
      for (const std::vector<int>& paragraph : Paragraphs(found, block, work.letter_height)) {
        std::vector<LayoutLine> lines;
        for (int i : paragraph) lines.push_back(line_at(i));
        result.regions.push_back(RegionOfLines(std::move(lines), found.skew_degrees));
      }
    }
    return result;
  }

  static std::vector<std::vector<int>> Paragraphs(const PageLines& found,
                                                  const layout::PageBlock& block, double xh) {
    std::vector<layout::Box> boxes;
    for (int i : block.lines) boxes.push_back(found.lines[static_cast<size_t>(i)].box);
    const std::vector<int> numbers = layout::GroupBlocks(boxes, xh);
    std::vector<std::vector<int>> paragraphs;
    for (size_t k = 0; k < numbers.size(); ++k) {
      if (k == 0 || numbers[k] != numbers[k - 1]) paragraphs.emplace_back();
      paragraphs.back().push_back(block.lines[k]);
    }
    return paragraphs;
  }

  static LayoutRegion Picture(const layout::PageBlock& block, const LineWriter& writer,
                              cv::Size page) {
    LayoutRegion region;
    region.kind = RegionKind::kFigure;
    region.read = false;
    region.quad = writer.ToPage(block.box);
    region.box = BoundsOf(region.quad, page);
    return region;
  }

  template <typename LineAt>
  static LayoutRegion TableRegion(const layout::PageBlock& block, const LineWriter& writer,
                                  const LineAt& line_at, double skew_degrees) {
    std::vector<LayoutLine> lines;
    TableLayout table = {block.grid->rows, block.grid->columns, {}};
    for (const layout::GridCell& cell : block.grid->cells) {
      TableCell out = {
          cell.row, cell.column, cell.row_span, cell.column_span, writer.ToPage(cell.box), {}};
      for (int i : cell.lines) {
        out.lines.push_back(static_cast<int>(lines.size()));
        lines.push_back(line_at(i));
      }
      table.cells.push_back(std::move(out));
    }
    LayoutRegion region = RegionOfLines(std::move(lines), skew_degrees);
    if (block.grid->is_table) region.kind = RegionKind::kTable;
    region.table = std::move(table);
    return region;
  }
};

}  // namespace

void KeepOpenCvSingleThreaded() { cv::setNumThreads(1); }

std::unique_ptr<LayoutDetector> MakeClassicalDetector() {
  return std::make_unique<ClassicalDetector>();
}

}  // namespace platen
