#include "apps/platen/option_table.h"

#include <algorithm>
#include <numeric>

namespace platen {
namespace {

size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string ConfigKey(const std::string& option_name) {
  std::string key = option_name;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string NearestName(const std::string& word, const std::vector<std::string>& candidates) {
  std::string nearest;
  size_t best = std::max<size_t>(2, word.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace platen
