#include "apps/platen/commands/tune/inspect/inspect_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace platen {
namespace {

std::string Px(double value) { return fmt::format("{:.1f}", value); }

// 1, 2 or 5 times a power of ten, so that no more than six of them fill the range.
double StepFor(double range) {
  const double power = std::pow(10, std::floor(std::log10(range)));
  for (const double step : {0.2, 0.5, 1.0, 2.0}) {
    if (range / (step * power) <= 6) return step * power;
  }
  return 2 * power;
}

void DrawText(double x, double y, const char* anchor, const char* style, const std::string& text,
              XmlWriter& xml) {
  xml.Leaf("text", {{"class", style}, {"x", Px(x)}, {"y", Px(y)}, {"text-anchor", anchor}}, text);
}

void DrawBox(double x, double y, double width, double height, const std::string& style,
             XmlWriter& xml) {
  xml.Empty(
      "rect",
      {{"class", style}, {"x", Px(x)}, {"y", Px(y)}, {"width", Px(width)}, {"height", Px(height)}});
}

constexpr double kWidth = 470, kHeight = 272;
constexpr double kLeft = 50, kRight = 14, kTop = 34, kBottom = 74;
constexpr size_t kMostPoints = 400;

class CurveDrawing {
 public:
  CurveDrawing(const CurveChart& chart, XmlWriter& xml) : chart_(chart), xml_(xml) {
    double least = 1e300, most = 0;
    for (const Curve& curve : chart.curves) {
      for (const CurvePoint& point : curve) {
        least = std::min(least, point.value);
        most = std::max(most, point.value);
      }
    }
    const double spread = chart.from_zero ? most : most - least;
    const double room = std::max({0.05 * spread, 0.01 * most, 1e-6});
    low_ = chart.from_zero ? 0 : std::max(0.0, least - room);
    high_ = most + room;
  }

  void Draw() {
    xml_.Open("svg", {{"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)},
                      {"class", "chart curves"},
                      {"role", "img"},
                      {"aria-label", chart_.title}});
    DrawText(kLeft, 18, "start", "label", chart_.title, xml_);
    DrawAxes();
    for (size_t i = 0; i < chart_.curves.size(); ++i) DrawCurve(i);
    DrawKeys();
    xml_.Close();
  }

 private:
  double X(int64_t step) const {
    const double share = static_cast<double>(step) / static_cast<double>(chart_.steps);
    return kLeft + (kWidth - kLeft - kRight) * std::min(share, 1.0);
  }
  double Y(double value) const {
    return kTop + (kHeight - kTop - kBottom) * (1 - (value - low_) / (high_ - low_));
  }

  void DrawAxes() {
    const double by = StepFor(high_ - low_);
    for (double value = std::ceil(low_ / by) * by; value <= high_; value += by) {
      const std::string y = Px(Y(value));
      xml_.Empty("line", {{"class", "grid"},
                          {"x1", Px(kLeft)},
                          {"x2", Px(kWidth - kRight)},
                          {"y1", y},
                          {"y2", y}});
      DrawText(kLeft - 7, Y(value) + 4, "end", "tick", fmt::format("{:.4g}", value), xml_);
    }
    const auto steps =
        static_cast<int64_t>(std::max(1.0, std::ceil(StepFor(static_cast<double>(chart_.steps)))));
    for (int64_t step = 0; step <= chart_.steps; step += steps) {
      DrawText(X(step), kHeight - kBottom + 18, "middle", "tick", std::to_string(step), xml_);
    }
    DrawText((kLeft + kWidth - kRight) / 2, kHeight - kBottom + 36, "middle", "tick", "step", xml_);
  }

  void DrawCurve(size_t index) {
    const std::string colour = fmt::format("c{}", index % 8);
    std::string points;
    const Curve curve = Thinned(chart_.curves[index], kMostPoints);
    for (const CurvePoint& point : curve) {
      points += (points.empty() ? "" : " ") + Px(X(point.step)) + "," + Px(Y(point.value));
    }
    xml_.Empty("polyline", {{"class", "curve " + colour}, {"points", points}});
    constexpr size_t kFew = 40;
    for (size_t i = 0; i < curve.size() && curve.size() <= kFew; ++i) {
      xml_.Empty("circle", {{"class", "dot " + colour},
                            {"cx", Px(X(curve[i].step))},
                            {"cy", Px(Y(curve[i].value))},
                            {"r", "3"}});
    }
  }

  void DrawKeys() {
    double x = kLeft;
    for (size_t i = 0; i < chart_.names.size(); ++i) {
      DrawBox(x, kHeight - 17, 12, 12, fmt::format("c{}", i % 8), xml_);
      DrawText(x + 17, kHeight - 7, "start", "tick", chart_.names[i], xml_);
      x += 34 + 7.5 * static_cast<double>(chart_.names[i].size());
    }
  }

  const CurveChart& chart_;
  double low_ = 0, high_ = 1;
  XmlWriter& xml_;
};

}  // namespace

void DrawShares(const ShareBars& bars, XmlWriter& xml) {
  constexpr double kAll = 960, kBar = 17, kGap = 13, kBarLeft = 90, kBarWidth = 770;
  const auto series = static_cast<double>(bars.series.size());
  const double row = series * kBar + kGap;
  xml.Open("svg", {{"viewBox",
                    fmt::format("0 0 {} {}", kAll, row * static_cast<double>(bars.labels.size()))},
                   {"class", "chart"},
                   {"role", "img"},
                   {"aria-label", bars.what}});
  for (size_t i = 0; i < bars.labels.size(); ++i) {
    const double top = row * static_cast<double>(i) + kGap / 2;
    DrawText(kBarLeft - 12, top + series * kBar / 2 + 5, "end", "label", bars.labels[i], xml);
    for (size_t s = 0; s < bars.series.size(); ++s) {
      const double value = bars.series[s][i], y = top + kBar * static_cast<double>(s);
      const bool pale = s + 1 < bars.series.size();
      DrawBox(kBarLeft, y + 1, kBarWidth, kBar - 2, "rail", xml);
      DrawBox(kBarLeft, y + 1, kBarWidth * std::clamp(value, 0.0, 1.0), kBar - 2,
              pale ? "pale" : "good", xml);
      DrawText(kBarLeft + kBarWidth + 12, y + kBar / 2 + 5, "start", "label",
               value < 0 ? "none" : fmt::format("{:.1f} %", 100 * value), xml);
    }
  }
  xml.Close();
}

void DrawCurves(const CurveChart& chart, XmlWriter& xml) { CurveDrawing(chart, xml).Draw(); }

}  // namespace platen
