#include "apps/platen/commands/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace platen {
namespace {

constexpr size_t kBins = 96;
constexpr double kWidth = 960, kHeight = 240;
constexpr double kLeft = 64, kRight = 12, kTop = 12, kBottom = 28;

std::string Px(double value) { return fmt::format("{:.1f}", value); }

// 1, 2 or 5 times a power of ten, so that three to six of them reach `most`.
double StepFor(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)));
  for (const double step : {0.2, 0.5, 1.0, 2.0}) {
    if (most / (step * power) <= 6) return step * power;
  }
  return 2 * power;
}

std::string ClockOf(int64_t seconds, const char* format) {
  const std::time_t time = seconds;
  std::tm parts = {};
  ::gmtime_r(&time, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof(text), format, &parts)};
}

// Spreads what a run did between two points evenly over the bins in between.
void Spread(double from_s, double to_s, double amount, const Throughput& bins,
            std::vector<double>& out) {
  if (!(amount > 0)) return;
  const double begin = from_s / bins.bin_s;
  const double end = std::max(to_s / bins.bin_s, begin + 1e-9);
  const auto last = static_cast<double>(out.size() - 1);
  for (double bin = std::clamp(std::floor(begin), 0.0, last); bin <= std::min(end, last); ++bin) {
    const double part = std::min(end, bin + 1) - std::max(begin, bin);
    if (part > 0) out[static_cast<size_t>(bin)] += amount * part / (end - begin);
  }
}

void AddRun(const RunView& run, Throughput& bins) {
  const auto offset = static_cast<double>(run.started_s - bins.start_s);
  TimelinePoint before;
  for (const TimelinePoint& point : run.timeline) {
    if (!(point.at_s >= before.at_s)) continue;
    const double from = offset + before.at_s, to = offset + point.at_s;
    Spread(from, to, static_cast<double>(point.pages_read - before.pages_read), bins, bins.pages);
    Spread(from, to, static_cast<double>(point.pages_failed - before.pages_failed), bins,
           bins.failed);
    before = point;
  }
}

// Lines and figures of the vertical axis, and those of time.
void DrawAxes(const Throughput& data, double most, double per_minute, XmlWriter& xml) {
  const double plot_w = kWidth - kLeft - kRight, plot_h = kHeight - kTop - kBottom;
  const double step = StepFor(most * per_minute);
  for (double value = 0; value <= most * per_minute * 1.0001; value += step) {
    const std::string y = Px(kTop + plot_h * (1 - value / (most * per_minute)));
    xml.Empty(
        "line",
        {{"class", "grid"}, {"x1", Px(kLeft)}, {"x2", Px(kWidth - kRight)}, {"y1", y}, {"y2", y}});
    xml.Leaf("text",
             {{"class", "tick"},
              {"x", Px(kLeft - 8)},
              {"y", y},
              {"text-anchor", "end"},
              {"dominant-baseline", "middle"}},
             fmt::format("{:g}", value));
  }
  const double all_s = data.bin_s * static_cast<double>(data.pages.size());
  const bool days = all_s > 36 * 3600;
  constexpr int kTimes = 6;
  for (int i = 0; i <= kTimes; ++i) {
    const auto at = data.start_s + static_cast<int64_t>(all_s * i / kTimes);
    const char* format = days ? "%m-%d %H:%M" : all_s < 600 ? "%H:%M:%S" : "%H:%M";
    xml.Leaf("text",
             {{"class", "tick"},
              {"x", Px(kLeft + plot_w * i / kTimes)},
              {"y", Px(kHeight - 8)},
              {"text-anchor", i == 0        ? "start"
                              : i == kTimes ? "end"
                                            : "middle"}},
             ClockOf(at, format));
  }
}

}  // namespace

Throughput ThroughputOf(const std::vector<RunView>& runs) {
  Throughput bins;
  double end_s = 0;
  for (const RunView& run : runs) {
    if (run.started_s == 0 || run.timeline.empty()) continue;
    if (bins.start_s == 0 || run.started_s < bins.start_s) bins.start_s = run.started_s;
    end_s = std::max(end_s, static_cast<double>(run.started_s) + run.wall_s);
  }
  const double all_s = end_s - static_cast<double>(bins.start_s);
  if (bins.start_s == 0 || !(all_s > 0)) return bins;
  bins.bin_s = all_s / kBins;
  bins.pages.assign(kBins, 0);
  bins.failed.assign(kBins, 0);
  for (const RunView& run : runs) {
    if (run.started_s != 0) AddRun(run, bins);
  }
  return bins;
}

void DrawThroughput(const Throughput& data, XmlWriter& xml) {
  if (data.bin_s <= 0) return;
  double most = 0;
  for (size_t i = 0; i < data.pages.size(); ++i) {
    most = std::max(most, data.pages[i] + data.failed[i]);
  }
  if (!(most > 0)) return;
  const double plot_w = kWidth - kLeft - kRight, plot_h = kHeight - kTop - kBottom;
  xml.Open("svg", {{"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)},
                   {"class", "chart"},
                   {"role", "img"},
                   {"aria-label", "Pages per minute over time"}});
  DrawAxes(data, most, 60 / data.bin_s, xml);
  const double width = plot_w / static_cast<double>(data.pages.size());
  for (size_t i = 0; i < data.pages.size(); ++i) {
    double top = kTop + plot_h;
    for (const auto& [count, style] : {std::pair{data.pages[i], "good"}, {data.failed[i], "bad"}}) {
      const double height = plot_h * count / most;
      top -= height;
      if (height < 0.05) continue;
      xml.Empty("rect", {{"class", style},
                         {"x", Px(kLeft + width * static_cast<double>(i))},
                         {"y", Px(top)},
                         {"width", Px(std::max(0.5, width - 1))},
                         {"height", Px(height)}});
    }
  }
  xml.Close();
}

void DrawBars(const std::vector<Bar>& bars, double full, XmlWriter& xml) {
  constexpr double kRow = 26, kBarLeft = 210, kBarWidth = 560;
  xml.Open("svg",
           {{"viewBox", fmt::format("0 0 {} {}", kWidth, kRow * static_cast<double>(bars.size()))},
            {"class", "chart"}});
  for (size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    const double y = kRow * static_cast<double>(i);
    const double share = full > 0 ? std::clamp(bar.value / full, 0.0, 1.0) : 0;
    xml.Leaf("text",
             {{"class", "label"},
              {"x", Px(kBarLeft - 12)},
              {"y", Px(y + kRow / 2)},
              {"text-anchor", "end"},
              {"dominant-baseline", "middle"}},
             bar.label);
    xml.Empty("rect", {{"class", "rail"},
                       {"x", Px(kBarLeft)},
                       {"y", Px(y + 5)},
                       {"width", Px(kBarWidth)},
                       {"height", Px(kRow - 10)}});
    xml.Empty("rect", {{"class", "good"},
                       {"x", Px(kBarLeft)},
                       {"y", Px(y + 5)},
                       {"width", Px(kBarWidth * share)},
                       {"height", Px(kRow - 10)}});
    xml.Leaf("text",
             {{"class", "label"},
              {"x", Px(kBarLeft + kBarWidth + 12)},
              {"y", Px(y + kRow / 2)},
              {"dominant-baseline", "middle"}},
             bar.figure);
  }
  xml.Close();
}

}  // namespace platen
