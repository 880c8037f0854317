// The figures of the page of tune-mtp inspect as SVG. Colours are classes of the page's style.
#pragma once

#include <string>
#include <vector>

#include "apps/platen/commands/tune/inspect/training_log.h"
#include "stages/formats/xml_writer.h"

namespace platen {

// Bars of several series for each label, one below the other; values are shares of 1, below 0:
// there is none. The first of two series is pale.
struct ShareBars {
  std::vector<std::string> labels;
  std::vector<std::vector<double>> series;  // [series][label]
  std::string what;                         // for those who cannot see it
};
void DrawShares(const ShareBars& bars, XmlWriter& xml);

// Lines over the steps of training, the colour of each by its place.
struct CurveChart {
  std::string title;
  int64_t steps = 1;
  std::vector<Curve> curves;
  std::vector<std::string> names;  // of the curves; empty: it needs none
  bool from_zero = true;           // else from a little below the least value
};
void DrawCurves(const CurveChart& chart, XmlWriter& xml);

}  // namespace platen
