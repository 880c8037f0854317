#include "stages/layout/classical/dark_ground.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "stages/layout/classical/cells.h"
#include "stages/layout/classical/photographs.h"
#include "stages/layout/components.h"

namespace platen::layout {
namespace {

constexpr int kLongSide = 1200;  // pixels of the small page that is looked at: A4 at 103 dpi
// Of the lightest pixels.
constexpr double kDark = 0.55;
constexpr double kLightest = 0.995;  // this share of all pixels is no lighter
// Sides in pixels of the small page.
constexpr int kThick = 9;         // a dark area holds a square of this side; strokes do not
constexpr int kLeastWidth = 36;   // 9 mm
constexpr int kLeastHeight = 14;  // 3.5 mm
constexpr int kPanel = 31;        // in a square of this side, more than kPanelLight is light
constexpr double kPanelLight = 0.6;
constexpr int kRim = 2;  // on both sides of an area's outline: neither ground nor print
// An area's ground is even: this share of it is within kSameTone grey levels of its median.
constexpr double kEvenShare = 0.5;
constexpr int kSameTone = 28;
// Print: at least so many pieces, and no more than this share of the area.
constexpr int kFewestPieces = 4;
constexpr double kMostPrint = 0.45;
constexpr int kMostAreas = 50;
constexpr double kLetters = 7;   // height of usual print
constexpr double kPatch = 0.85;  // of a photograph: a dark area smaller than this is part of it
constexpr double kWithin = 0.8;  // ... if so much of it lies in there

using Counts = std::array<int, 256>;

Counts CountTones(const cv::Mat& grey, const cv::Mat& mask) {
  Counts counts = {};
  for (int y = 0; y < grey.rows; ++y) {
    const uint8_t* row = grey.ptr<uint8_t>(y);
    const uint8_t* in = mask.empty() ? nullptr : mask.ptr<uint8_t>(y);
    for (int x = 0; x < grey.cols; ++x) {
      if (in == nullptr || in[x] != 0) ++counts[row[x]];
    }
  }
  return counts;
}

// The tone that the share `q` of all pixels does not exceed.
int ToneAt(const Counts& counts, double q) {
  double total = 0;
  for (int n : counts) total += n;
  double seen = 0;
  for (int tone = 0; tone < 256; ++tone) {
    seen += counts[static_cast<size_t>(tone)];
    if (seen >= q * total) return tone;
  }
  return 255;
}

// Light print on dark ground within an outline of the small page.
class Area {
 public:
  // `mask`: the area's filled outline. `light`: the tone of the lightest pixels of the page.
  Area(const cv::Mat& grey, const cv::Mat& mask, int light) : mask_(mask.clone()), light_(light) {
    const Counts counts = CountTones(grey, mask_);
    ground_ = ToneAt(counts, 0.5);
    LeaveOutPanels(grey);
  }

  int ground() const { return ground_; }
  const cv::Mat& mask() const { return mask_; }

  bool HasLightPrint(const cv::Mat& grey) const {
    if (ground_ >= kDark * light_) return false;
    const Counts counts = CountTones(grey, mask_);
    double all = 0, even = 0, print = 0;
    for (int tone = 0; tone < 256; ++tone) {
      const double n = counts[static_cast<size_t>(tone)];
      all += n;
      if (std::abs(tone - ground_) <= kSameTone) even += n;
      if (tone > Middle()) print += n;
    }
    if (all == 0 || even < kEvenShare * all || print > kMostPrint * all) return false;
    return Pieces(grey) >= kFewestPieces;
  }

 private:
  int Middle() const { return (ground_ + light_) / 2; }

  // A light panel with dark print in a dark area is none of it.
  void LeaveOutPanels(const cv::Mat& grey) {
    cv::Mat light = (grey > Middle()) & (mask_ != 0), share;
    cv::boxFilter(light, share, CV_8U, cv::Size(kPanel, kPanel));
    cv::Mat panels = share > kPanelLight * 255;
    cv::dilate(panels, panels, Square(kPanel / 2));
    panels &= light;
    cv::morphologyEx(panels, panels, cv::MORPH_CLOSE, Square(kPanel / 2));  // with its print
    mask_.setTo(0, panels);
  }

  // Pieces of print about as large as letters.
  int Pieces(const cv::Mat& grey) const {
    const cv::Mat print = (grey > Middle()) & (mask_ != 0);
    const std::vector<Component> pieces = FindComponents(print).items;
    return static_cast<int>(std::count_if(pieces.begin(), pieces.end(), [](const Component& c) {
      return c.height >= 3 && c.height <= 60 && c.width <= 8 * c.height;
    }));
  }

  cv::Mat mask_;
  int light_, ground_;
};

// Outlines of what is dark and thick.
std::vector<std::vector<cv::Point>> DarkOutlines(const cv::Mat& dark) {
  cv::Mat core;
  cv::erode(dark, core, Square(kThick));
  const Components areas = FindComponents(dark);
  cv::Mat kept(dark.size(), CV_8U, cv::Scalar(0));
  for (const Component& area : areas.items) {
    if (area.width < kLeastWidth || area.height < kLeastHeight) continue;
    if (areas.Touches(area, core)) areas.Paint(area, 1, kept);
  }
  std::vector<std::vector<cv::Point>> outlines;
  cv::findContours(kept, outlines, cv::RETR_EXTERNAL, cv::CHAIN_APPROX_NONE);
  return outlines;
}

// Whether a dark area is a part of what a photograph shows. `filled`: of the pixels in `box`, those
// within its outline.
bool IsPatch(const cv::Mat& filled, const cv::Rect& box, const std::vector<Box>& photographs) {
  return std::any_of(photographs.begin(), photographs.end(), [&](const Box& b) {
    const cv::Rect2d photograph(b.x0, b.y0, b.width(), b.height());
    const double common = (cv::Rect2d(box) & photograph).area();
    return common > kWithin * box.area() && cv::countNonZero(filled) < kPatch * photograph.area();
  });
}

// The ground becomes white, the lightest print black.
cv::Mat MakeTable(int ground, int light) {
  cv::Mat table(1, 256, CV_8U);
  const double range = std::max(1, light - ground);
  for (int tone = 0; tone < 256; ++tone) {
    const double print = std::clamp((tone - ground) / range, 0.0, 1.0);
    table.at<uint8_t>(tone) = static_cast<uint8_t>(std::lround((1 - print) * light));
  }
  return table;
}

// Turns the tones of the area, given on the small page, and clears its rim. Returns the area on the
// page itself.
cv::Mat TurnArea(const cv::Mat& area, const cv::Mat& table, int light, cv::Mat& grey) {
  cv::Mat mask, inner, rim, turned;
  cv::erode(area, inner, Square(2 * kRim + 1));
  cv::dilate(area, rim, Square(2 * kRim + 1));
  rim -= inner;
  cv::resize(rim, rim, grey.size(), 0, 0, cv::INTER_NEAREST);
  cv::resize(area, mask, grey.size(), 0, 0, cv::INTER_NEAREST);
  cv::LUT(grey, table, turned);
  turned.copyTo(grey, mask);
  grey.setTo(light, rim);
  return mask;
}

}  // namespace

cv::Mat TurnDarkGround(cv::Mat& grey) {
  const double scale =
      std::min(1.0, kLongSide / static_cast<double>(std::max(grey.rows, grey.cols)));
  cv::Mat small;
  cv::resize(grey, small,
             cv::Size(std::max(1, static_cast<int>(grey.cols * scale)),
                      std::max(1, static_cast<int>(grey.rows * scale))),
             0, 0, cv::INTER_AREA);
  const int light = ToneAt(CountTones(small, {}), kLightest);
  const cv::Mat dark = small < kDark * light;
  const std::vector<Box> photographs = FindPhotographs(small, CellMeans(small, kLetters), kLetters);
  cv::Mat areas;
  int found = 0;
  for (const std::vector<cv::Point>& outline : DarkOutlines(dark)) {
    const cv::Rect box = cv::boundingRect(outline);
    cv::Mat filled(box.size(), CV_8U, cv::Scalar(0));
    cv::drawContours(filled, std::vector<std::vector<cv::Point>>{outline}, 0, cv::Scalar(1),
                     cv::FILLED, cv::LINE_8, {}, 0, -box.tl());
    if (IsPatch(filled, box, photographs)) continue;
    const Area area(small(box), filled, light);
    if (!area.HasLightPrint(small(box))) continue;
    cv::Mat whole(small.size(), CV_8U, cv::Scalar(0));
    area.mask().copyTo(whole(box));
    const cv::Mat mask = TurnArea(whole, MakeTable(area.ground(), light), light, grey);
    areas = areas.empty() ? mask : areas | mask;
    if (++found == kMostAreas) break;
  }
  return areas;
}

}  // namespace platen::layout
