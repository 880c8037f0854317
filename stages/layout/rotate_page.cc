#include <cassert>
#include <opencv2/core.hpp>

#include "stages/layout/layout.h"

namespace platen {

Image RotatePage(const Image& page, int degrees_clockwise) {
  if (degrees_clockwise == 0 || page.empty()) return page;
  assert(degrees_clockwise == 90 || degrees_clockwise == 180 || degrees_clockwise == 270);
  const bool on_its_side = degrees_clockwise != 180;
  Image turned(on_its_side ? page.height : page.width, on_its_side ? page.width : page.height);
  const cv::Mat from(page.height, page.width, CV_8UC3, const_cast<uint8_t*>(page.rgb.data()));
  cv::Mat to(turned.height, turned.width, CV_8UC3, turned.rgb.data());
  cv::rotate(from, to,
             degrees_clockwise == 90    ? cv::ROTATE_90_CLOCKWISE
             : degrees_clockwise == 180 ? cv::ROTATE_180
                                        : cv::ROTATE_90_COUNTERCLOCKWISE);
  assert(to.data == turned.rgb.data());
  return turned;
}

PageLayout DetectUpright(const LayoutDetector& detector, Image& page) {
  PageLayout layout = detector.Detect(page);
  if (layout.rotation != 0) page = RotatePage(page, layout.rotation);
  return layout;
}

}  // namespace platen
