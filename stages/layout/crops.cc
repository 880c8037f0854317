#include "stages/layout/crops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "stages/layout/line_pieces.h"
#include "stages/layout/page_warp.h"
#include "stages/layout/regions.h"

namespace platen {
namespace {

using layout::CropFrame;
using layout::Piece;
using layout::StripGeometry;
using layout::Tones;

// A line whose letters are this much smaller or larger than the page's is scaled by its own.
constexpr double kClearlySmaller = 0.8;
constexpr double kClearlyLarger = 1.25;
// A line with high or low ink is shown smaller, so that it fits, by at most this.
constexpr double kMostShrinking = 11.0 / 7.0;
constexpr double kCutOff = 1.0;  // pixels of ink that may be cut off
// Paper beside a line that is shown as scanned, in x-heights; further out it is painted.
constexpr double kScannedMargin = 0.3;
// Paper that a crop must have beside a line's quad, in x-heights.
constexpr double kLeastMargin = 0.2;
// Paper around a block, in letter heights.
constexpr double kBlockMargin = 0.5;
constexpr double kWidestStrip = 1 << 18;  // pixels

cv::Mat View(const Image& page) {
  return cv::Mat(page.height, page.width, CV_8UC3, const_cast<uint8_t*>(page.rgb.data()));
}

Image ToImage(const cv::Mat& pixels) {
  Image image(pixels.cols, pixels.rows);
  for (int y = 0; y < pixels.rows; ++y) {
    std::memcpy(image.Row(y), pixels.ptr(y), static_cast<size_t>(pixels.cols) * Image::kChannels);
  }
  return image;
}

cv::Point2d At(const PointF& p) { return {p.x, p.y}; }

std::array<PointF, 4> QuadOf(const CropFrame& frame, double x0, double y0, double x1, double y1) {
  std::array<PointF, 4> quad;
  const cv::Point2d corners[] = {frame.At(x0, y0), frame.At(x1, y0), frame.At(x1, y1),
                                 frame.At(x0, y1)};
  for (int i = 0; i < 4; ++i) {
    quad[i] = {static_cast<float>(corners[i].x), static_cast<float>(corners[i].y)};
  }
  return quad;
}

// A line crop's scale and place: page pixels per crop pixel, and how far the crop's top lies above
// the quad's top edge.
struct LineScale {
  double unit;
  double above_quad;  // page pixels
};

double LetterHeightOf(const LayoutLine& line, const PageLayout& layout) {
  if (line.letter_height <= 0) return layout.letter_height;
  const double ratio = line.letter_height / layout.letter_height;
  if (ratio < kClearlySmaller || ratio > kClearlyLarger) return line.letter_height;
  // Both are estimates of one size.
  return std::sqrt(static_cast<double>(line.letter_height) * layout.letter_height);
}

LineScale ScaleOf(const LayoutLine& line, const PageLayout& layout, const ReadingConfig& reading,
                  double quad_height) {
  const bool measured = line.baseline > 0 && layout.letter_height > 0;
  if (!measured || reading.x_height <= 0 || reading.baseline <= 0) {
    return {reading.line_height > 0 ? quad_height / reading.line_height : 1.0, 0};
  }
  const double unit = LetterHeightOf(line, layout) / reading.x_height;
  const double fits = std::max(line.ascent / (reading.baseline + kCutOff),
                               line.descent / (reading.line_height - reading.baseline + kCutOff));
  const double chosen = std::clamp(fits, unit, kMostShrinking * unit);
  return {chosen, reading.baseline * chosen - line.baseline};
}

class Cropper {
 public:
  Cropper(const Image& page, const PageLayout& layout, const ReadingConfig& reading,
          const ReadOptions& options)
      : page_(page),
        pixels_(View(page)),
        layout_(layout),
        reading_(reading),
        options_(options),
        lines_measured_(reading.x_height <= 0 || layout.letter_height > 0) {
    if (options.text_height > 0 && layout.letter_height > 0) {
      region_unit_ = std::max(1.0, layout.letter_height / options.text_height);
    }
  }

  std::vector<Crop> Crops() const {
    std::vector<Crop> crops;
    for (size_t i = 0; i < layout_.regions.size(); ++i) {
      if (layout_.regions[i].read) AddRegion(static_cast<int>(i), crops);
    }
    return crops;
  }

 private:
  void AddRegion(int index, std::vector<Crop>& crops) const {
    const LayoutRegion& region = layout_.regions[static_cast<size_t>(index)];
    const bool by_line = GranularityOf(region.kind, reading_, options_) == Granularity::kLine;
    if (by_line && (!region.lines.empty() || reading_.x_height > 0)) {
      const int lines = lines_measured_ ? static_cast<int>(region.lines.size()) : 0;
      for (int i = 0; i < lines; ++i) AddLine(index, i, crops);
      return;
    }
    crops.push_back(region.source == RegionSource::kLines ? Block(region) : Cut(region.box));
    crops.back().origin.region = index;
  }

  void AddLine(int region, int index, std::vector<Crop>& crops) const {
    const LayoutLine& line =
        layout_.regions[static_cast<size_t>(region)].lines[static_cast<size_t>(index)];
    const cv::Point2d top_left = At(line.quad[0]);
    const cv::Point2d across = At(line.quad[1]) - top_left, side = At(line.quad[3]) - top_left;
    const double quad_width = cv::norm(across);
    if (quad_width < 1 || cv::norm(side) < 1) return;
    const cv::Point2d along = across * (1 / quad_width), down(-along.y, along.x);
    const double quad_height = side.dot(down);
    const LineScale scale = ScaleOf(line, layout_, reading_, quad_height);
    const int height = reading_.line_height > 0 ? reading_.line_height
                                                : std::max(1, static_cast<int>(quad_height));

    // The strip: the quad and, on both sides, the margin that may be shown as scanned.
    const int margin = static_cast<int>(std::ceil(kScannedMargin * reading_.x_height));
    const double width = std::ceil(std::min(quad_width / scale.unit, kWidestStrip));
    const CropFrame frame = {top_left - along * (margin * scale.unit) - down * scale.above_quad,
                             along * scale.unit, down * scale.unit};
    const Piece text = {margin, margin + static_cast<int>(width)};
    cv::Mat strip = WarpCrop(pixels_, frame, {text.end + margin, height});
    if (line.light_on_dark) cv::bitwise_not(strip, strip);
    const Tones tones = layout::MeasureTones(strip);
    Clean(line, scale, tones, strip);
    int part = 0;
    for (const Piece& piece : Pieces(strip, tones, text)) {
      Crop crop;
      crop.image = ToImage(layout::CropPiece(strip, tones, piece, margin, CropWidth(piece)));
      crop.origin = {QuadOf(frame, piece.start, 0, piece.end, height), region, index, part++,
                     GapsOf(strip, tones, piece)};
      crops.push_back(std::move(crop));
    }
  }

  StripGeometry GeometryOf(const cv::Mat& strip) const {
    return {reading_.x_height > 0 ? reading_.x_height : 0.4 * strip.rows,
            reading_.baseline > 0 ? reading_.baseline : 0.7 * strip.rows};
  }

  std::vector<WordGap> GapsOf(const cv::Mat& strip, const Tones& tones, Piece piece) const {
    const auto share = [&](int x) {
      return static_cast<float>(x - piece.start) / static_cast<float>(piece.end - piece.start);
    };
    std::vector<WordGap> gaps;
    for (const Piece& gap : layout::WordGaps(strip, tones, GeometryOf(strip), piece)) {
      gaps.push_back({share(gap.start), share(gap.end)});
    }
    return gaps;
  }

  // Removes the ink of neighbours, where the line's own extent is known.
  void Clean(const LayoutLine& line, const LineScale& scale, const Tones& tones,
             cv::Mat& strip) const {
    if (line.ascent <= 0 || reading_.x_height <= 0) return;
    const double baseline = (line.baseline + scale.above_quad) / scale.unit;
    layout::EraseForeignInk(tones, {reading_.x_height, baseline}, line.ascent / scale.unit, strip);
  }

  int LeastMargin() const {
    return static_cast<int>(std::lround(kLeastMargin * reading_.x_height));
  }

  std::vector<Piece> Pieces(const cv::Mat& strip, const Tones& tones, Piece text) const {
    if (reading_.max_width <= 0) return {text};
    return layout::CutAtWordGaps(strip, tones, GeometryOf(strip), text,
                                 std::max(16, reading_.max_width - 2 * LeastMargin()));
  }

  // Whole multiples of the line height, so that the image processor need not stretch it.
  int CropWidth(const Piece& piece) const {
    const int width = piece.end - piece.start + 2 * LeastMargin();
    if (reading_.line_height <= 0) return width;
    return (width + reading_.line_height - 1) / reading_.line_height * reading_.line_height;
  }

  // The upright part of the page in a box, all of which is within the page's pixels.
  Crop Cut(const BoxF& box) const {
    const auto edge = [](double at, int size) { return std::clamp(static_cast<int>(at), 0, size); };
    const int x0 = edge(std::floor(box.x0), page_.width - 1);
    const int y0 = edge(std::floor(box.y0), page_.height - 1);
    const cv::Rect part(x0, y0, std::max(1, edge(std::ceil(box.x1), page_.width) - x0),
                        std::max(1, edge(std::ceil(box.y1), page_.height) - y0));
    const auto size = [&](int pixels) {
      return std::max(1, static_cast<int>(std::lround(pixels / region_unit_)));
    };
    Crop crop;
    if (region_unit_ > 1) {
      cv::Mat scaled;
      cv::resize(pixels_(part), scaled, cv::Size(size(part.width), size(part.height)), 0, 0,
                 cv::INTER_AREA);
      crop.image = ToImage(scaled);
    } else {
      crop.image = ToImage(pixels_(part));
    }
    crop.origin.quad =
        QuadOf({{0, 0}, {1, 0}, {0, 1}}, part.x, part.y, part.x + part.width, part.y + part.height);
    return crop;
  }

  // The region's lines, straightened by the page's skew.
  Crop Block(const LayoutRegion& region) const {
    const double angle = layout_.skew_degrees * std::numbers::pi / 180;
    const cv::Point2d along(std::cos(angle), std::sin(angle)), down(-along.y, along.x);
    const Extent extent = ExtentAlong(region.lines, static_cast<double>(layout_.skew_degrees));
    const double pad = kBlockMargin * layout_.letter_height;
    const cv::Point2d origin = along * (extent.x0 - pad) + down * (extent.y0 - pad);
    const CropFrame frame = {origin, along * region_unit_, down * region_unit_};
    const auto size = [&](double length) {
      return std::max(1, static_cast<int>(std::ceil((length + 2 * pad) / region_unit_)));
    };
    const cv::Size crop_size(size(extent.x1 - extent.x0), size(extent.y1 - extent.y0));
    Crop crop;
    crop.image = ToImage(WarpCrop(pixels_, frame, crop_size));
    crop.origin.quad = QuadOf(frame, 0, 0, crop_size.width, crop_size.height);
    return crop;
  }

  const Image& page_;
  cv::Mat pixels_;
  const PageLayout& layout_;
  const ReadingConfig& reading_;
  const ReadOptions& options_;
  bool lines_measured_;     // or need no measure
  double region_unit_ = 1;  // page pixels per pixel of a block or page crop
};

}  // namespace

std::vector<Crop> MakeCrops(const Image& page, const PageLayout& layout,
                            const ReadingConfig& reading, const ReadOptions& options) {
  if (page.empty()) return {};
  return Cropper(page, layout, reading, options).Crops();
}

}  // namespace platen
