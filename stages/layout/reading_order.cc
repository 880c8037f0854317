#include "stages/layout/reading_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace platen::layout {
namespace {

// In letter heights unless said otherwise.
constexpr double kChannel = 1.1;     // narrowest white channel between columns
constexpr double kGroupGap = 7.0;    // bands further apart do not share columns
constexpr double kTextLine = 11.0;   // lines of running text are wider than this
constexpr double kTextShare = 0.4;   // ... and than this share of their column
constexpr double kSameHeight = 0.5;  // lines of two columns that stand on the same height
constexpr int kDeepest = 12;         // columns in columns

using Indices = std::vector<int>;

struct Interval {
  double from, to;
};

using Intervals = std::vector<Interval>;

// Lines that share heights on the page.
struct Band {
  double top, bottom;
  Indices lines;
};

// Bands that share white channels.
struct Group {
  std::vector<Band> bands;
  std::optional<Intervals> channels;  // nothing: no band has any
};

class Orderer {
 public:
  Orderer(const std::vector<Box>& boxes, double xh) : boxes_(boxes), xh_(xh) {}

  Indices Order(const Indices& lines, int depth) const {
    if (lines.size() <= 1) return lines;
    Indices ordered;
    for (const Group& group : Groups(lines)) {
      Indices part;
      if (group.channels) {
        Indices all;
        for (const Band& b : group.bands) all.insert(all.end(), b.lines.begin(), b.lines.end());
        part = OrderColumns(all, depth);
      } else {
        part = RowByRow(group.bands);
      }
      ordered.insert(ordered.end(), part.begin(), part.end());
    }
    return ordered;
  }

 private:
  // Middle half of a line's height: ascenders and descenders of two lines may interlock.
  Interval Core(int i) const {
    const double quarter = 0.25 * boxes_[i].height();
    return {boxes_[i].y0 + quarter, boxes_[i].y1 - quarter};
  }

  std::vector<Band> Bands(const Indices& lines) const {
    Indices sorted = lines;
    std::sort(sorted.begin(), sorted.end(), [&](int a, int b) {
      return std::tuple(Core(a).from, boxes_[a].x0, a) < std::tuple(Core(b).from, boxes_[b].x0, b);
    });
    std::vector<Band> bands;
    for (int i : sorted) {
      const Interval core = Core(i);
      if (!bands.empty() && core.from < bands.back().bottom) {
        bands.back().lines.push_back(i);
        bands.back().bottom = std::max(bands.back().bottom, core.to);
      } else {
        bands.push_back({core.from, core.to, {i}});
      }
    }
    return bands;
  }

  Indices RowByRow(const std::vector<Band>& bands) const {
    Indices ordered;
    for (const Band& band : bands) {
      Indices row = band.lines;
      std::sort(row.begin(), row.end(), [&](int a, int b) {
        return std::tuple(boxes_[a].x0, boxes_[a].y0, a) <
               std::tuple(boxes_[b].x0, boxes_[b].y0, b);
      });
      ordered.insert(ordered.end(), row.begin(), row.end());
    }
    return ordered;
  }

  Interval Extent(const Indices& lines) const {
    Interval extent = {boxes_[lines[0]].x0, boxes_[lines[0]].x1};
    for (int i : lines) {
      extent.from = std::min(extent.from, boxes_[i].x0);
      extent.to = std::max(extent.to, boxes_[i].x1);
    }
    return extent;
  }

  // White channels between the lines, from left to right.
  Intervals Channels(const Indices& lines) const {
    std::vector<std::pair<double, double>> spans;
    for (int i : lines) spans.emplace_back(boxes_[i].x0, boxes_[i].x1);
    std::sort(spans.begin(), spans.end());
    Intervals channels;
    double end = spans.front().second;
    for (const auto& [from, to] : spans) {
      if (from - end >= kChannel * xh_) channels.push_back({end, from});
      end = std::max(end, to);
    }
    return channels;
  }

  Intervals Common(const Intervals& a, const Intervals& b) const {
    Intervals common;
    for (const Interval& p : a) {
      for (const Interval& q : b) {
        const Interval both = {std::max(p.from, q.from), std::min(p.to, q.to)};
        if (both.to - both.from >= kChannel * xh_) common.push_back(both);
      }
    }
    return common;
  }

  // What a band leaves free: its own channels and everything beside it.
  Intervals FreeOf(const Band& band, const Intervals& own) const {
    constexpr double kFar = std::numeric_limits<float>::max();
    const Interval extent = Extent(band.lines);
    Intervals free = own;
    free.push_back({-kFar, extent.from});
    free.push_back({extent.to, kFar});
    return free;
  }

  // A band joins the group above it while it leaves at least one of the group's channels free; a
  // headline or a wide line ends a group of columns.
  std::vector<Group> Groups(const Indices& lines) const {
    std::vector<Group> groups;
    double last_bottom = 0;
    for (Band& band : Bands(lines)) {
      const Intervals own = Channels(band.lines);
      const bool near = !groups.empty() && band.top - last_bottom < kGroupGap * xh_;
      last_bottom = band.bottom;
      if (near && Joins(band, own, groups.back())) {
        groups.back().bands.push_back(std::move(band));
        continue;
      }
      Group group;
      if (!own.empty()) group.channels = own;
      group.bands.push_back(std::move(band));
      groups.push_back(std::move(group));
    }
    return groups;
  }

  // If the band joins the group, narrows the group's channels to those the band leaves free.
  bool Joins(const Band& band, const Intervals& own, Group& group) const {
    if (!group.channels) return own.empty();
    Intervals common = Common(*group.channels, FreeOf(band, own));
    if (common.empty()) return false;
    group.channels = std::move(common);
    return true;
  }

  Indices OrderColumns(const Indices& lines, int depth) const {
    const Intervals channels = Channels(lines);
    if (channels.empty() || depth > kDeepest) return RowByRow(Bands(lines));
    const std::vector<Indices> strips = Strips(lines, channels);
    if (!AreColumns(strips)) return RowByRow(Bands(lines));
    Indices ordered;
    for (const Indices& strip : strips) {
      const Indices part = Order(strip, depth + 1);
      ordered.insert(ordered.end(), part.begin(), part.end());
    }
    return ordered;
  }

  std::vector<Indices> Strips(const Indices& lines, const Intervals& channels) const {
    std::vector<Indices> strips(channels.size() + 1);
    for (int i : lines) {
      const double x = boxes_[i].center_x();
      const auto left_of = [&](const Interval& c) { return (c.from + c.to) / 2 < x; };
      strips[std::count_if(channels.begin(), channels.end(), left_of)].push_back(i);
    }
    return strips;
  }

  // Columns of text, or of lines that do not stand on the same heights; not the columns of a table.
  bool AreColumns(const std::vector<Indices>& strips) const {
    size_t texts = 0, long_texts = 0;
    for (const Indices& strip : strips) {
      const bool text = IsText(strip);
      texts += text;
      long_texts += text && strip.size() >= 6;
    }
    if (texts >= 2) return true;
    return long_texts > 0 && strips.size() == 2 &&
           std::min(strips[0].size(), strips[1].size()) >= 3 && !StandOnSameHeights(strips);
  }

  bool IsText(const Indices& strip) const {
    if (strip.size() < 3) return false;
    std::vector<double> widths;
    for (int i : strip) widths.push_back(boxes_[i].width());
    const double wide = Quantile(std::move(widths), 0.6);
    const Interval extent = Extent(strip);
    return wide > kTextLine * xh_ && wide > kTextShare * (extent.to - extent.from);
  }

  // True if most lines of the shorter of two strips have a line of the other beside them.
  bool StandOnSameHeights(const std::vector<Indices>& strips) const {
    const bool first_shorter = strips[0].size() <= strips[1].size();
    const Indices& shorter = strips[first_shorter ? 0 : 1];
    const Indices& longer = strips[first_shorter ? 1 : 0];
    const auto beside = std::count_if(shorter.begin(), shorter.end(), [&](int i) {
      return std::any_of(longer.begin(), longer.end(), [&](int j) {
        return std::abs(boxes_[i].center_y() - boxes_[j].center_y()) < kSameHeight * xh_;
      });
    });
    return static_cast<double>(beside) > 0.7 * static_cast<double>(shorter.size());
  }

  const std::vector<Box>& boxes_;
  double xh_;
};

}  // namespace

std::vector<int> ReadingOrder(const std::vector<Box>& boxes, double letter_height) {
  Indices all(boxes.size());
  std::iota(all.begin(), all.end(), 0);
  return Orderer(boxes, letter_height).Order(all, 0);
}

}  // namespace platen::layout
