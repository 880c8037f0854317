#include "stages/layout/page_warp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace platen::layout {
namespace {

// OpenCV's warp takes images of up to 32,767 pixels a side; tiles also bound its memory.
constexpr int kTile = 1024;  // crop pixels

// The part of the page under a tile, shrunk by whole numbers of pixels until a crop pixel covers
// less than two of it.
struct Source {
  cv::Mat pixels;
  cv::Point offset;  // of the part, in page pixels
  int shrink = 1;
};

Source SourceOf(const cv::Mat& page, const CropFrame& frame, cv::Size size) {
  double x0 = page.cols, y0 = page.rows, x1 = 0, y1 = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const cv::Point2d p = frame.At(corner & 1 ? size.width : 0, corner & 2 ? size.height : 0);
    x0 = std::min(x0, p.x);
    y0 = std::min(y0, p.y);
    x1 = std::max(x1, p.x);
    y1 = std::max(y1, p.y);
  }
  Source source;
  source.shrink = std::max(1, static_cast<int>(cv::norm(frame.along)));
  const int margin = 3 * source.shrink;  // what bicubic interpolation looks at
  const auto clip = [](double v, int size_limit) {
    return static_cast<int>(std::clamp(std::floor(v), 0.0, static_cast<double>(size_limit)));
  };
  cv::Range columns(clip(x0 - margin, page.cols - 1), clip(x1 + margin + 1, page.cols));
  cv::Range rows(clip(y0 - margin, page.rows - 1), clip(y1 + margin + 1, page.rows));
  columns.end = std::max(columns.end, columns.start + 1);
  rows.end = std::max(rows.end, rows.start + 1);
  source.offset = {columns.start, rows.start};
  source.pixels = page(rows, columns);
  if (source.shrink == 1) return source;
  // A last row or column of less than `shrink` pixels is left out; `margin` keeps it off the crop.
  const int shrunk_cols = source.pixels.cols / source.shrink;
  const int shrunk_rows = source.pixels.rows / source.shrink;
  if (shrunk_cols == 0 || shrunk_rows == 0) {
    source.shrink = 1;
    return source;
  }
  const cv::Mat whole =
      source.pixels(cv::Rect(0, 0, shrunk_cols * source.shrink, shrunk_rows * source.shrink));
  cv::resize(whole, source.pixels, cv::Size(shrunk_cols, shrunk_rows), 0, 0, cv::INTER_AREA);
  return source;
}

cv::Mat WarpTile(const cv::Mat& page, const CropFrame& frame, cv::Size size) {
  const Source source = SourceOf(page, frame, size);
  const double unit = cv::norm(frame.along) / source.shrink;
  // Sampled finer than the source's pixels, then averaged.
  const int fine = unit > 1.05 ? 2 : 1;
  const double s = source.shrink;
  // From the middle of a fine pixel to the middle of a source pixel.
  const cv::Point2d along = frame.along * (1 / (fine * s)), down = frame.down * (1 / (fine * s));
  const cv::Point2d first = (frame.origin - cv::Point2d(source.offset)) * (1 / s) +
                            0.5 * (along + down) - cv::Point2d(0.5, 0.5);
  const cv::Matx23d to_source(along.x, down.x, first.x, along.y, down.y, first.y);
  cv::Mat warped;
  cv::warpAffine(source.pixels, warped, to_source, size * fine,
                 cv::INTER_CUBIC | cv::WARP_INVERSE_MAP, cv::BORDER_REPLICATE);
  if (fine == 1) return warped;
  cv::Mat averaged;
  cv::resize(warped, averaged, size, 0, 0, cv::INTER_AREA);
  return averaged;
}

}  // namespace

cv::Mat WarpCrop(const cv::Mat& page, const CropFrame& frame, cv::Size size) {
  cv::Mat crop(size, CV_8UC3);
  for (int y = 0; y < size.height; y += kTile) {
    for (int x = 0; x < size.width; x += kTile) {
      const cv::Rect tile(x, y, std::min(kTile, size.width - x), std::min(kTile, size.height - y));
      const CropFrame part = {frame.At(x, y), frame.along, frame.down};
      WarpTile(page, part, tile.size()).copyTo(crop(tile));
    }
  }
  return crop;
}

}  // namespace platen::layout
