// The embedded detector: classical image processing, no model file.
#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <utility>

#include "stages/layout/classical/blocks.h"
#include "stages/layout/classical/broken_strokes.h"
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
    for (size_t i = 0; i < quad.size(); ++i) {
      const cv::Vec2d p = to_page_ * cv::Vec3d(quad[i].x, quad[i].y, 1);
      out.quad[i] = {ToPage(p[0]), ToPage(p[1])};
    }
    out.box = BoundsOf(out.quad, page_);
    const double quad_top = extent.top - layout::kQuadPadding * letter_height_;
    out.baseline = ToPage(metrics.baseline - quad_top);
    out.letter_height = ToPage(metrics.letter_height);
    out.ascent = ToPage(metrics.ascent);
    out.descent = ToPage(metrics.descent);
    return out;
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
    std::optional<UprightPage> upright = FindUpright(grey);
    if (!upright) return {};
    layout::FoundPage& found = upright->found;
    if (found.page.letter_height == 0 || found.lines.noise) return WholePage(grey.size());
    layout::MendBrokenStrokes(grey, found);
    PageLayout result = Describe(found.page, found.lines, grey.size());
    result.rotation = upright->rotation;
    return result;
  }

 private:
  static PageLayout Describe(const WorkingPage& work, const PageLines& found, cv::Size page) {
    std::vector<layout::Box> boxes;
    std::vector<double> slopes;
    for (const Phrase& line : found.lines) {
      boxes.push_back(line.box);
      slopes.push_back(layout::BaselineSlope(line, work.letter_height));
    }
    const std::vector<int> blocks = layout::GroupBlocks(boxes, work.letter_height);
    const layout::PageMetrics metrics(found.lines, slopes, work.letter_height);
    const LineWriter writer(work, found, page);
    PageLayout result;
    result.skew_degrees = static_cast<float>(found.skew_degrees);
    result.letter_height = writer.ToPage(metrics.x_height());
    std::vector<LayoutLine> block;
    for (size_t i = 0; i < found.lines.size(); ++i) {
      const Phrase& line = found.lines[i];
      block.push_back(writer.Write(line, slopes[i], metrics.Measure(line, slopes[i])));
      if (i + 1 < blocks.size() && blocks[i + 1] == blocks[i]) continue;
      result.regions.push_back(RegionOfLines(std::exchange(block, {}), found.skew_degrees));
    }
    return result;
  }
};

}  // namespace

void KeepOpenCvSingleThreaded() { cv::setNumThreads(1); }

std::unique_ptr<LayoutDetector> MakeClassicalDetector() {
  return std::make_unique<ClassicalDetector>();
}

}  // namespace platen
