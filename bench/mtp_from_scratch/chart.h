// Panels with axes and lines, as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stages/formats/xml_writer.h"

namespace platen::bench {

// Colours of depths 0, 1, 2, ...: light to dark.
const char* DepthColour(int depth);

struct Line {
  std::string colour;
  std::vector<std::pair<double, double>> points;
};

struct Panel {
  std::string title, x_label, y_label;
  double x_end = 1;  // from 0
  double y_begin = 0, y_end = 1;
  std::vector<Line> lines;
};

struct Key {
  std::string colour, text;
};

constexpr double kPanelWidth = 360, kPanelHeight = 250;

// Opens <svg> with a white ground and one style of text; the caller closes it.
void OpenPicture(double width, double height, const std::string& what, XmlWriter& xml);
void DrawText(double x, double y, const char* anchor, const std::string& text, XmlWriter& xml,
              const char* colour = "#222222");
void DrawBox(double x, double y, double width, double height, const std::string& colour,
             XmlWriter& xml);
// Squares with words behind them, in a row from (x, y).
void DrawKeys(double x, double y, const std::vector<Key>& keys, XmlWriter& xml);

// Side by side, with keys below.
std::string DrawPanels(const std::vector<Panel>& panels, const std::vector<Key>& keys,
                       const std::string& what);

}  // namespace platen::bench
