#include "model/training/document_split.h"

#include <algorithm>
#include <utility>

#include "model/support/hash.h"
#include "model/training/alike_documents.h"

namespace platen {
namespace {

// Documents by the first that they are like, in the order of their names.
using Groups = std::map<std::string, std::vector<std::string>>;

Groups GroupsOf(const std::vector<TrainingPage>& pages) {
  Groups groups, alone;
  for (const auto& [document, first] : AlikeDocuments(pages)) {
    groups[first].push_back(document);
    alone[document].push_back(document);
  }
  return groups.size() < 3 ? alone : groups;
}

}  // namespace

std::map<std::string, Part> SplitDocuments(const std::vector<TrainingPage>& pages, uint64_t seed) {
  const Groups groups = GroupsOf(pages);
  size_t documents = 0;
  std::vector<std::pair<uint64_t, std::string>> order;
  for (const auto& [first, group] : groups) {
    documents += group.size();
    order.emplace_back(Hash64(first, seed), first);
  }
  std::sort(order.begin(), order.end());
  const size_t choose = std::max<size_t>(1, order.size() / 10);
  const size_t judge = std::max<size_t>(1, order.size() / 5);
  const size_t most = std::max<size_t>(1, documents / 10);
  std::map<std::string, Part> parts;
  for (size_t i = 0; i < order.size(); ++i) {
    const Part part = i < choose ? Part::kChoose : i < choose + judge ? Part::kJudge : Part::kTrain;
    const std::vector<std::string>& group = groups.at(order[i].second);
    for (size_t d = 0; d < group.size(); ++d) parts[group[d]] = d < most ? part : Part::kLeftOut;
  }
  return parts;
}

}  // namespace platen
