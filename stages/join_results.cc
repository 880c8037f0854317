#include "stages/join_results.h"

#include <algorithm>
#include <utility>

namespace platen {
namespace {

ResultBox Union(const ResultBox& a, const ResultBox& b) {
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

}  // namespace

void Merge(Confidence& into, const Confidence& other) {
  if (other.tokens == 0) return;
  const int tokens = into.tokens + other.tokens;
  into.min = into.tokens == 0 ? other.min : std::min(into.min, other.min);
  into.mean = (into.mean * into.tokens + other.mean * other.tokens) / tokens;
  into.tokens = tokens;
}

void JoinText(std::string& into, const std::string& text, char separator) {
  if (!into.empty() && !text.empty()) into += separator;
  into += text;
}

void AddMissing(std::vector<std::string>& into, const std::vector<std::string>& from) {
  for (const std::string& item : from) {
    if (std::find(into.begin(), into.end(), item) == into.end()) into.push_back(item);
  }
}

void MergeFinish(std::string& into, const std::string& finish) {
  const auto rank = [](const std::string& f) {
    return f.empty() ? 0 : f == "stop" ? 1 : f == "length" ? 2 : 3;
  };
  if (rank(finish) > rank(into)) into = finish;
}

void AddLine(LineResult line, RegionResult& region) {
  region.box = region.lines.empty() ? line.box : Union(region.box, line.box);
  JoinText(region.text, line.text, '\n');
  Merge(region.confidence, line.confidence);
  AddMissing(region.warnings, line.warnings);
  MergeFinish(region.finish, line.finish);
  region.lines.push_back(std::move(line));
}

void FinishRegion(RegionResult& region) {
  const auto failed = std::count_if(region.lines.begin(), region.lines.end(),
                                    [](const LineResult& line) { return !line.error.empty(); });
  if (failed > 0) {
    region.error = std::to_string(failed) + " of " + std::to_string(region.lines.size()) +
                   " lines could not be read";
  }
}

}  // namespace platen
