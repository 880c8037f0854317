#include "apps/platen/commands/tune/inspect/inspected.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace platen {

InspectedSide SideOf(std::string name, std::vector<PageDrafts> regions, int drafts) {
  InspectedSide side = {std::move(name), drafts, std::move(regions), {}};
  std::vector<PageHits> hits;
  for (const PageDrafts& region : side.regions) hits.push_back(region.hits);
  side.acceptance = AcceptanceOf(hits, drafts);
  return side;
}

std::vector<Miss> FrequentMisses(const std::vector<const TrainingPage*>& pages,
                                 const InspectedSide& side, size_t most) {
  std::map<std::pair<TokenId, TokenId>, int64_t> counts;
  for (size_t i = 0; i < pages.size(); ++i) {
    const std::vector<TokenFate> fates = FatesOf(side.regions[i].hits, side.drafts);
    for (size_t t = 0; t < fates.size(); ++t) {
      if (fates[t].kind != TokenFate::Kind::kRejected) continue;
      const auto step = static_cast<size_t>(fates[t].step), row = static_cast<size_t>(fates[t].row);
      const TokenId expected = pages[i]->ids[static_cast<size_t>(pages[i]->prompt) + t];
      ++counts[{expected, side.regions[i].drafts[step][row].token}];
    }
  }
  std::vector<Miss> misses;
  for (const auto& [pair, count] : counts) misses.push_back({pair.first, pair.second, count});
  std::stable_sort(misses.begin(), misses.end(),
                   [](const Miss& a, const Miss& b) { return a.count > b.count; });
  if (misses.size() > most) misses.resize(most);
  return misses;
}

std::vector<size_t> MostMissed(const InspectedSide& side, size_t most) {
  std::vector<int64_t> misses;
  for (const PageDrafts& region : side.regions) {
    misses.push_back(CountFates(FatesOf(region.hits, side.drafts)).rejected);
  }
  std::vector<size_t> order(misses.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return misses[a] > misses[b]; });
  if (order.size() > most) order.resize(most);
  return order;
}

FateCounts CountFates(const std::vector<TokenFate>& fates) {
  FateCounts counts;
  for (const TokenFate& fate : fates) {
    ++(fate.kind == TokenFate::Kind::kAccepted   ? counts.accepted
       : fate.kind == TokenFate::Kind::kRejected ? counts.rejected
                                                 : counts.target);
  }
  return counts;
}

}  // namespace platen
