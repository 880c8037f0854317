#include "stages/layout/components.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <tuple>

namespace platen::layout {

Components FindComponents(const cv::Mat& ink) {
  Components found;
  cv::Mat stats, centroids;
  const int n = cv::connectedComponentsWithStats(ink, found.labels, stats, centroids, 8, CV_32S,
                                                 cv::CCL_DEFAULT);
  found.items.reserve(static_cast<size_t>(n - 1));
  for (int label = 1; label < n; ++label) {
    const int* s = stats.ptr<int>(label);
    found.items.push_back({s[cv::CC_STAT_LEFT], s[cv::CC_STAT_TOP], s[cv::CC_STAT_WIDTH],
                           s[cv::CC_STAT_HEIGHT], s[cv::CC_STAT_AREA], label});
  }
  // OpenCV's numbering depends on how it splits the page among threads; this order does not.
  std::sort(found.items.begin(), found.items.end(), [](const Component& a, const Component& b) {
    return std::tie(a.x, a.y, a.width, a.height, a.area) <
           std::tie(b.x, b.y, b.width, b.height, b.area);
  });
  return found;
}

}  // namespace platen::layout
