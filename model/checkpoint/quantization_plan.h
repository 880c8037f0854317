// Group sizes of the int8 weights of each linear: "int8" in platen.json.
//
// Part of what determines the bytes of a result, and so of the model's identity (the file is).
#pragma once

#include <map>
#include <span>
#include <string>

#include "model/ops/weight_format.h"

namespace platen {

class QuantizationPlan {
 public:
  QuantizationPlan() = default;

  // Group size of all linears that no pattern names.
  int group() const { return group_; }
  void set_group(int group) { group_ = group; }

  // `pattern` is a linear's name (docs/SNAPSHOTS.md), in which * stands for any characters but a
  // dot: "model.visual.blocks.*.mlp.down_proj". Groups as in WeightFormat.
  void Set(const std::string& pattern, int group) { groups_[pattern] = group; }
  const std::map<std::string, int>& patterns() const { return groups_; }

  // Every linear's group size is decided: throws Error(kModel) naming `file` and the pattern if one
  // names no linear of `linears` (and which comes nearest), or if two name the same linear with
  // different groups.
  void Check(std::span<const std::string> linears, const std::string& file) const;

  // Group size of a linear; the plan has been checked.
  int GroupOf(const std::string& linear) const;

  bool operator==(const QuantizationPlan&) const = default;

 private:
  int group_ = WeightFormat::kDefaultGroup;
  std::map<std::string, int> groups_;  // by pattern
};

// The pattern of a name and its like in other layers: numbers between dots become *.
std::string PatternOf(const std::string& name);

// `name` matches `pattern`, in which * stands for any number of characters but a dot.
bool MatchesPattern(const std::string& pattern, const std::string& name);

}  // namespace platen
