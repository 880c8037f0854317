// Union-find over the numbers 0..n-1.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace platen::layout {

class DisjointSets {
 public:
  explicit DisjointSets(size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }

  int Find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  // The smaller number names the joined set.
  void Join(int i, int j) {
    i = Find(i);
    j = Find(j);
    if (i < j) parent_[j] = i;
    if (j < i) parent_[i] = j;
  }

  // The sets, each ascending, in the order of their smallest members.
  std::vector<std::vector<int>> Groups() {
    std::vector<std::vector<int>> groups;
    std::vector<int> group_of(parent_.size(), -1);
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) {
      const int root = Find(i);
      if (group_of[root] < 0) {
        group_of[root] = static_cast<int>(groups.size());
        groups.emplace_back();
      }
      groups[group_of[root]].push_back(i);
    }
    return groups;
  }

 private:
  std::vector<int> parent_;
};

}  // namespace platen::layout
