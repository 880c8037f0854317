#include "stages/layout/components.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <tuple>

namespace platen::layout {
namespace {

constexpr double kRound = 1.5;       // the longer side of a disc by its shorter
constexpr double kDiscFill = 0.5;    // of its box: a disc of 5 pixels may be drawn as a diamond
constexpr double kSquareFill = 0.9;  // corners are filled: a square, unless it is a mere point
constexpr int kPoint = 4;            // pixels
constexpr double kMiddle = 0.75;     // of its width, on its middle row: s and z are narrower there

// The first column from `x` on whose pixel is ink (or paper, if not `ink`); `cols` if none is.
int NextColumn(const uint8_t* row, int x, int cols, bool ink) {
  while (!ink && x < cols && row[x] != 0) ++x;
  if (!ink) return x;
  for (uint64_t eight = 0; x + 8 <= cols; x += 8) {
    std::memcpy(&eight, row + x, sizeof(eight));
    if (eight != 0) break;
  }
  while (x < cols && row[x] == 0) ++x;
  return x;
}

std::vector<Run> FindRuns(const cv::Mat& ink) {
  std::vector<Run> runs;
  for (int y = 0; y < ink.rows; ++y) {
    const auto* row = ink.ptr<uint8_t>(y);
    for (int x = NextColumn(row, 0, ink.cols, true); x < ink.cols;) {
      const int end = NextColumn(row, x, ink.cols, false);
      runs.push_back({y, x, end});
      x = NextColumn(row, end, ink.cols, true);
    }
  }
  return runs;
}

void Extend(const Run& run, Component& c) {
  const int right = std::max(c.x + c.width, run.x1);
  c.x = c.num_runs == 0 ? run.x0 : std::min(c.x, run.x0);
  if (c.num_runs == 0) c.y = run.y;
  c.width = right - c.x;
  c.height = run.y + 1 - c.y;
  c.area += run.x1 - run.x0;
  ++c.num_runs;
}

// Puts the runs of each component together. `component_of`: by run.
std::vector<Run> Gathered(const std::vector<Run>& runs, const std::vector<int>& component_of,
                          std::vector<Component>& components) {
  int next = 0;
  for (Component& c : components) {
    c.first_run = next;
    next += c.num_runs;
  }
  std::vector<int> places;
  for (const Component& c : components) places.push_back(c.first_run);
  std::vector<Run> gathered(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) gathered[places[component_of[i]]++] = runs[i];
  return gathered;
}

bool IsDisc(const Component& c, const std::vector<Run>& runs) {
  const int longer = std::max(c.width, c.height), shorter = std::min(c.width, c.height);
  if (c.num_runs != c.height || longer > kRound * shorter + 1) return false;
  const double fill = static_cast<double>(c.area) / c.rect().area();
  if (fill < kDiscFill || (fill > kSquareFill && longer > kPoint)) return false;
  const Run& middle = runs[c.first_run + c.height / 2];
  return middle.x1 - middle.x0 >= kMiddle * c.width;
}

}  // namespace

Components FindComponents(const cv::Mat& ink, Connectivity connectivity) {
  Components found;
  found.size = ink.size();
  const std::vector<Run> runs = FindRuns(ink);
  DisjointSets sets = JoinRuns(runs, connectivity);
  std::vector<int> component_of(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto root = static_cast<size_t>(sets.Find(static_cast<int>(i)));
    if (root == i) {
      component_of[i] = static_cast<int>(found.items.size());
      found.items.emplace_back();
    } else {
      component_of[i] = component_of[root];
    }
    Extend(runs[i], found.items[component_of[i]]);
  }
  found.runs = Gathered(runs, component_of, found.items);
  for (Component& c : found.items) c.disc = IsDisc(c, found.runs);
  std::sort(found.items.begin(), found.items.end(), [](const Component& a, const Component& b) {
    return std::tie(a.x, a.y, a.width, a.height, a.area, a.first_run) <
           std::tie(b.x, b.y, b.width, b.height, b.area, b.first_run);
  });
  return found;
}

bool Components::Touches(const Component& c, const cv::Mat& mask) const {
  const std::span<const Run> own = RunsOf(c);
  return std::any_of(own.begin(), own.end(), [&](const Run& run) {
    const auto* row = mask.ptr<uint8_t>(run.y);
    return NextColumn(row, run.x0, run.x1, true) < run.x1;
  });
}

void Components::Paint(const Component& c, uint8_t value, cv::Mat& image) const {
  for (const Run& run : RunsOf(c)) {
    std::memset(image.ptr<uint8_t>(run.y) + run.x0, value, static_cast<size_t>(run.x1 - run.x0));
  }
}

cv::Mat Components::Mask(const Component& c) const {
  cv::Mat mask(c.height, c.width, CV_8U, cv::Scalar(0));
  for (const Run& run : RunsOf(c)) {
    std::memset(mask.ptr<uint8_t>(run.y - c.y) + run.x0 - c.x, 1,
                static_cast<size_t>(run.x1 - run.x0));
  }
  return mask;
}

}  // namespace platen::layout
