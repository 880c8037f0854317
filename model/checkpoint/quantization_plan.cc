#include "model/checkpoint/quantization_plan.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "model/support/edit_distance.h"
#include "model/support/error.h"

namespace platen {

// Goes back to the last * only: it can be stretched, those before it need not be.
bool MatchesPattern(const std::string& pattern, const std::string& name) {
  size_t p = 0;
  size_t n = 0;
  size_t star = std::string::npos;
  size_t resume = 0;  // where the name goes on after what the last * has taken
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string::npos && name[resume] != '.') {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

void QuantizationPlan::Check(std::span<const std::string> linears, const std::string& file) const {
  const auto fail = [&](const std::string& pattern, const std::string& reason) {
    throw Error(ErrorKind::kModel, {.file = file, .field = "int8.groups." + pattern}, reason);
  };
  std::map<std::string, std::string> named_by;  // linear -> pattern
  for (const auto& [pattern, group] : groups_) {
    bool used = false;
    for (const std::string& linear : linears) {
      if (!MatchesPattern(pattern, linear)) continue;
      used = true;
      const auto [other, is_new] = named_by.emplace(linear, pattern);
      if (!is_new && groups_.at(other->second) != group) {
        fail(pattern, "gives " + linear + " another group than " + other->second + " does");
      }
    }
    if (used) continue;
    const std::string nearest = NearestName(pattern, {linears.begin(), linears.end()});
    fail(pattern, "names no linear of this model" +
                      (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
  }
}

int QuantizationPlan::GroupOf(const std::string& linear) const {
  for (const auto& [pattern, group] : groups_) {
    if (MatchesPattern(pattern, linear)) return group;
  }
  return group_;
}

std::string PatternOf(const std::string& name) {
  std::string out;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    const bool number = !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    if (begin > 0) out += '.';
    out += number ? "*" : part;
    begin = end + 1;
  }
  return out;
}

}  // namespace platen
