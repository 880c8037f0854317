// Which experts a row goes to.
#pragma once

#include <span>
#include <vector>

#include "model/families/minillm/config.h"

namespace platen::minillm {

struct ExpertChoice {
  int expert = 0;
  float weight = 0;
};

// Chooses for one row from its scores' logits [E] and the correction bias [E], which may be empty:
// K experts, ascending, with their weights. Of equal experts or groups the first is chosen; the
// arithmetic is in double and has the same bits everywhere. NaN counts as the lowest score.
//
// score = softmax or sigmoid of the logits; compared is score + bias; of `groups` the best
// `kept_groups` remain, then the K best experts of those. weight = score (without the bias), over
// the sum of all K where the config says so, times the scale.
class Router {
 public:
  explicit Router(const RouterConfig& config) : c_(config) {}

  void Choose(std::span<const float> logits, std::span<const float> bias,
              std::vector<ExpertChoice>& chosen);

 private:
  void Score(std::span<const float> logits);
  void DropGroups();
  double GroupValue(int group) const;

  const RouterConfig c_;
  std::vector<double> scores_;    // [E]
  std::vector<double> compared_;  // [E]; lowest: dropped
  std::vector<int> order_;
  std::vector<double> values_;  // of groups
};

}  // namespace platen::minillm
