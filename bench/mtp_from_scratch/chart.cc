#include "bench/mtp_from_scratch/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace platen::bench {
namespace {

constexpr double kLeft = 48, kRight = 22, kTop = 30, kBottom = 42;

std::string Px(double value) { return fmt::format("{:.1f}", value); }

// 1, 2 or 5 times a power of ten, so that no more than six of them fill the range.
double StepFor(double range) {
  const double power = std::pow(10, std::floor(std::log10(range)));
  for (const double step : {0.1, 0.2, 0.5, 1.0}) {
    if (range / (step * power) <= 6) return step * power;
  }
  return 2 * power;
}

class Frame {
 public:
  Frame(const Panel& panel, double left, XmlWriter& xml) : panel_(panel), left_(left), xml_(xml) {}

  double X(double value) const {
    return left_ + kLeft + (kPanelWidth - kLeft - kRight) * value / panel_.x_end;
  }
  double Y(double value) const {
    const double share = (value - panel_.y_begin) / (panel_.y_end - panel_.y_begin);
    return kTop + (kPanelHeight - kTop - kBottom) * (1 - share);
  }

  void DrawAxes() {
    const double y_step = StepFor(panel_.y_end - panel_.y_begin);
    for (double y = std::ceil(panel_.y_begin / y_step) * y_step; y <= panel_.y_end + 1e-9;
         y += y_step) {
      Rule(X(0), Y(y), X(panel_.x_end), Y(y));
      DrawText(X(0) - 6, Y(y) + 4, "end", fmt::format("{:.2g}", y), xml_);
    }
    const double x_step = StepFor(panel_.x_end);
    for (double x = 0; x <= panel_.x_end + 1e-9; x += x_step) {
      DrawText(X(x), Y(panel_.y_begin) + 16, "middle", fmt::format("{:g}", x), xml_);
    }
    DrawText(X(panel_.x_end / 2), Y(panel_.y_begin) + 33, "middle", panel_.x_label, xml_);
    DrawText(X(0), kTop - 12, "start", panel_.title, xml_);
  }

  void DrawLines() {
    for (const Line& line : panel_.lines) {
      std::string points;
      for (const auto& [x, y] : line.points) points += Px(X(x)) + "," + Px(Y(y)) + " ";
      xml_.Empty(
          "polyline",
          {{"points", points}, {"fill", "none"}, {"stroke", line.colour}, {"stroke-width", "2"}});
    }
  }

 private:
  void Rule(double x1, double y1, double x2, double y2) {
    xml_.Empty(
        "line",
        {{"x1", Px(x1)}, {"y1", Px(y1)}, {"x2", Px(x2)}, {"y2", Px(y2)}, {"stroke", "#dddddd"}});
  }

  const Panel& panel_;
  const double left_;
  XmlWriter& xml_;
};

}  // namespace

const char* DepthColour(int depth) {
  constexpr const char* kColours[] = {"#d95f02", "#3182bd", "#08306b", "#7a0177", "#00441b"};
  return kColours[static_cast<size_t>(depth) % std::size(kColours)];
}

void OpenPicture(double width, double height, const std::string& what, XmlWriter& xml) {
  xml.Declare();
  xml.Open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"viewBox", fmt::format("0 0 {:g} {:g}", width, height)},
                   {"width", fmt::format("{:g}", width)},
                   {"height", fmt::format("{:g}", height)},
                   {"font-family", "sans-serif"},
                   {"font-size", "12"},
                   {"role", "img"},
                   {"aria-label", what}});
  DrawBox(0, 0, width, height, "#ffffff", xml);
}

void DrawText(double x, double y, const char* anchor, const std::string& text, XmlWriter& xml,
              const char* colour) {
  xml.Leaf("text", {{"x", Px(x)}, {"y", Px(y)}, {"text-anchor", anchor}, {"fill", colour}}, text);
}

void DrawBox(double x, double y, double width, double height, const std::string& colour,
             XmlWriter& xml) {
  xml.Empty(
      "rect",
      {{"x", Px(x)}, {"y", Px(y)}, {"width", Px(width)}, {"height", Px(height)}, {"fill", colour}});
}

void DrawKeys(double x, double y, const std::vector<Key>& keys, XmlWriter& xml) {
  for (const Key& key : keys) {
    DrawBox(x, y - 9, 10, 10, key.colour, xml);
    DrawText(x + 15, y, "start", key.text, xml);
    x += 40 + 7 * static_cast<double>(key.text.size());
  }
}

std::string DrawPanels(const std::vector<Panel>& panels, const std::vector<Key>& keys,
                       const std::string& what) {
  XmlWriter xml;
  OpenPicture(kPanelWidth * static_cast<double>(panels.size()), kPanelHeight + 28, what, xml);
  for (size_t i = 0; i < panels.size(); ++i) {
    Frame frame(panels[i], kPanelWidth * static_cast<double>(i), xml);
    frame.DrawAxes();
    frame.DrawLines();
  }
  DrawKeys(kLeft, kPanelHeight + 14, keys, xml);
  xml.Close();
  return xml.Take();
}

}  // namespace platen::bench
