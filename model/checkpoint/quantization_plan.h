// K-groups of the int8 weights of each product: "int8" in platen.json.
//
// Part of what determines the bytes of a result, and so of the model's identity (the file is).
#pragma once

#include <map>
#include <span>
#include <string>

#include "model/ops/linear.h"

namespace platen {

class QuantizationPlan {
 public:
  QuantizationPlan() = default;

  // Group of all products that no pattern names.
  int group() const { return group_; }
  void set_group(int group) { group_ = group; }

  // `pattern` is a product's name (docs/SNAPSHOTS.md), in which * stands for any characters but a
  // dot: "model.visual.blocks.*.mlp.down_proj". Groups as in WeightFormat.
  void Set(const std::string& pattern, int group) { groups_[pattern] = group; }
  const std::map<std::string, int>& patterns() const { return groups_; }

  // Every product's group is decided: throws Error(kModel) naming `file` and the pattern if one
  // names no product of `products` (and which comes nearest), or if two name the same product with
  // different groups.
  void Check(std::span<const std::string> products, const std::string& file) const;

  // Group of a product; the plan has been checked.
  int GroupOf(const std::string& product) const;

  bool operator==(const QuantizationPlan&) const = default;

 private:
  int group_ = WeightFormat::kDefaultGroup;
  std::map<std::string, int> groups_;  // by pattern
};

// `name` matches `pattern`, in which * stands for any number of characters but a dot.
bool MatchesPattern(const std::string& pattern, const std::string& name);

}  // namespace platen
