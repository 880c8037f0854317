// The embedded detector: classical image processing, no model file.
#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "stages/layout/blocks.h"
#include "stages/layout/layout.h"
#include "stages/layout/page_work.h"
#include "stages/layout/quads.h"

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

BoxF BoundsOf(const std::array<PointF, 4>& quad, const Image& page) {
  BoxF box = {quad[0].x, quad[0].y, quad[0].x, quad[0].y};
  for (const PointF& p : quad) {
    box = {std::min(box.x0, p.x), std::min(box.y0, p.y), std::max(box.x1, p.x),
           std::max(box.y1, p.y)};
  }
  const auto width = static_cast<float>(page.width), height = static_cast<float>(page.height);
  return {std::clamp(box.x0, 0.f, width), std::clamp(box.y0, 0.f, height),
          std::clamp(box.x1, 0.f, width), std::clamp(box.y1, 0.f, height)};
}

class ClassicalDetector : public LayoutDetector {
 public:
  PageLayout Detect(const Image& page) const override {
    PageLayout result;
    if (page.empty()) return result;
    std::optional<WorkingPage> work = layout::PrepareWorkingPage(ToGrey(page));
    if (!work) return result;
    const PageLines found = layout::FindLines(*work);
    result.skew_degrees = static_cast<float>(found.skew_degrees);
    result.letter_height = static_cast<float>(work->letter_height / work->scale);
    std::vector<layout::Box> boxes;
    for (const Phrase& line : found.lines) boxes.push_back(line.box);
    const std::vector<int> blocks = layout::GroupBlocks(boxes, work->letter_height);
    cv::Matx23d to_page;
    cv::invertAffineTransform(found.to_straight, to_page);
    for (size_t i = 0; i < found.lines.size(); ++i) {
      const Phrase& line = found.lines[i];
      const double slope = layout::BaselineSlope(line, work->letter_height);
      const layout::LineExtent extent = layout::ExtentAlong(line, slope, work->letter_height);
      LayoutLine out;
      const auto quad = layout::LineQuad(line, slope, extent, work->letter_height);
      for (int k = 0; k < 4; ++k) {
        const cv::Vec2d p = to_page * cv::Vec3d(quad[k].x, quad[k].y, 1);
        out.quad[k] = {static_cast<float>(p[0] / work->scale),
                       static_cast<float>(p[1] / work->scale)};
      }
      out.box = BoundsOf(out.quad, page);
      out.block = blocks[i];
      result.lines.push_back(out);
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<LayoutDetector> MakeClassicalDetector() {
  return std::make_unique<ClassicalDetector>();
}

}  // namespace platen
