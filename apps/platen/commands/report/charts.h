// Pictures of figures, as SVG within an HTML page. Colours are classes of the page's style.
#pragma once

#include <string>
#include <vector>

#include "apps/platen/commands/report/run_view.h"
#include "stages/formats/xml_writer.h"

namespace platen {

// Pages over time: of all runs together, in as many bins as the chart has.
struct Throughput {
  int64_t start_s = 0;  // seconds since 1970
  double bin_s = 0;     // 0: there is nothing to show
  std::vector<double> pages;
  std::vector<double> failed;
};
Throughput ThroughputOf(const std::vector<RunView>& runs);

void DrawThroughput(const Throughput& throughput, XmlWriter& xml);

// A bar for each, its label on the left and its figure on the right. Shares are of the largest.
struct Bar {
  std::string label;
  double value = 0;  // >= 0
  std::string figure;
};
void DrawBars(const std::vector<Bar>& bars, double full, XmlWriter& xml);

}  // namespace platen
