#include "model/training/document_split.h"

#include <algorithm>
#include <utility>

#include "model/support/hash.h"

namespace platen {

std::map<std::string, Part> SplitDocuments(const std::vector<TrainingPage>& pages, uint64_t seed) {
  std::map<std::string, Part> parts;
  for (const TrainingPage& page : pages) parts[page.document] = Part::kTrain;
  std::vector<std::pair<uint64_t, std::string>> order;
  for (const auto& [name, part] : parts) order.emplace_back(Hash64(name, seed), name);
  std::sort(order.begin(), order.end());
  const size_t choose = std::max<size_t>(1, order.size() / 10);
  const size_t judge = std::max<size_t>(1, order.size() / 5);
  for (size_t i = 0; i < order.size() && i < choose + judge; ++i) {
    parts[order[i].second] = i < choose ? Part::kChoose : Part::kJudge;
  }
  return parts;
}

}  // namespace platen
