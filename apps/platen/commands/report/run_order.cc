#include "apps/platen/commands/report/run_order.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace platen {
namespace {

// Runs that are left of one part: all from `next`.
struct Part {
  std::vector<RunView> runs;
  size_t next = 0;

  bool is_empty() const { return next == runs.size(); }
  const RunView& latest() const { return runs[next]; }
};

// Of parts that are not empty: those of the count of the largest number, as far as their numbers
// are larger than all of other counts; the one that started last.
std::vector<Part>::iterator LatestOf(std::vector<Part>& parts) {
  const auto top = std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.latest().number < b.latest().number;
  });
  const int count = top->latest().shard.count;
  int64_t before = -1;
  for (const Part& part : parts) {
    if (part.latest().shard.count != count) before = std::max(before, part.latest().number);
  }
  const auto key = [&](const Part& part) {
    const RunView& run = part.latest();
    const bool later = run.shard.count == count && run.number > before;
    return std::tuple(later, run.started_s, run.number);
  };
  return std::max_element(parts.begin(), parts.end(),
                          [&](const Part& a, const Part& b) { return key(a) < key(b); });
}

}  // namespace

std::vector<RunView> LatestFirst(std::vector<std::vector<RunView>> lists) {
  std::vector<Part> parts;
  for (std::vector<RunView>& runs : lists) parts.push_back({std::move(runs)});
  std::vector<RunView> ordered;
  while (true) {
    std::erase_if(parts, [](const Part& part) { return part.is_empty(); });
    if (parts.empty()) return ordered;
    Part& part = *LatestOf(parts);
    ordered.push_back(std::move(part.runs[part.next++]));
  }
}

}  // namespace platen
