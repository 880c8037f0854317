#include "stages/doubts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "model/engine/request.h"
#include "model/support/grouped.h"
#include "model/support/number_text.h"

namespace platen {
namespace {

// Probabilities are counted in steps of 0.0001, as they are stored: a page taken from its file must
// give the same doubts as when it was read.
constexpr int64_t kSteps = 10'000;
constexpr int64_t kLowConfidence = static_cast<int64_t>(kLowLineConfidence * kSteps + 0.5);
// One low line in so many is too many; on more than one line it takes kFewestLowLines.
constexpr int64_t kLowShare = 5;
constexpr int64_t kFewestLowLines = 2;
// A number or a single word says nothing about the script.
constexpr int64_t kFewestTokens = 15;

// What the rules need to know of a page.
struct Counts {
  int64_t lines = 0;  // with tokens
  int64_t low = 0;    // of these
  int64_t tokens = 0;
  int64_t probability = 0;  // steps, summed over the tokens
  bool whole_regions = true;

  void Add(const Confidence& confidence) {
    if (confidence.tokens == 0) return;
    const int64_t mean = std::llround(confidence.mean * kSteps);
    ++lines;
    if (mean < kLowConfidence) ++low;
    tokens += confidence.tokens;
    probability += mean * confidence.tokens;
  }
};

Counts Count(const PageResult& page) {
  Counts counts;
  for (const RegionResult& region : page.regions) {
    if (region.lines.empty()) counts.Add(region.confidence);
    for (const LineResult& line : region.lines) {
      counts.Add(line.confidence);
      counts.whole_regions = false;
    }
  }
  return counts;
}

// Two decimals, rounded down: what is below a bound is never shown as the bound.
std::string TwoDecimals(int64_t steps) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(steps * 100 / kSteps) / 100);
  return text;
}

bool IsEmptyButSound(const PageResult& page) {
  return std::all_of(page.regions.begin(), page.regions.end(), [](const RegionResult& region) {
    return region.text.empty() && region.error.empty();
  });
}

bool IsLowThroughout(const Counts& counts) {
  if (counts.low == 0 || counts.low * kLowShare < counts.lines) return false;
  return counts.low == counts.lines || counts.low >= kFewestLowLines;
}

std::string LowConfidenceText(const Counts& counts) {
  const std::string plural = counts.lines == 1 ? "" : "s";
  return std::to_string(counts.low) + " of " + std::to_string(counts.lines) +
         (counts.whole_regions ? " region" : " line") + plural +
         (counts.lines == 1 ? " has" : " have") + " a mean confidence below " +
         TwoDecimals(kLowConfidence);
}

int64_t InSteps(double probability) { return std::llround(probability * kSteps); }

bool LooksForeign(const Counts& counts, double bound) {
  return counts.tokens >= kFewestTokens && counts.probability < InSteps(bound) * counts.tokens;
}

std::string ForeignText(const Counts& counts, const ReadingConfig& reading) {
  std::string names;
  for (const std::string& script : reading.scripts) names += (names.empty() ? "" : ", ") + script;
  return "the mean confidence of all text is " + TwoDecimals(counts.probability / counts.tokens) +
         ", below " + NumberText(reading.doubtful_below) +
         ": it looks like a script the model was not trained on (it was trained on " + names +
         ") or like text upside down";
}

// Lines, or regions that were read as a whole, whose text ends so.
int64_t EndingsOf(const PageResult& page, FinishReason reason) {
  const std::string finish = FinishReasonName(reason);
  int64_t count = 0;
  for (const RegionResult& region : page.regions) {
    if (region.lines.empty()) count += region.finish == finish;
    for (const LineResult& line : region.lines) count += line.finish == finish;
  }
  return count;
}

void AddIfCut(const PageResult& page, FinishReason reason, DoubtKind kind, const char* why,
              std::vector<Doubt>& doubts) {
  const int64_t count = EndingsOf(page, reason);
  if (count == 0) return;
  doubts.push_back({kind, "text is cut at " + Counted(count, "place") + ": " + why});
}

}  // namespace

std::vector<Doubt> FindDoubts(const PageResult& page, bool has_ink, const ReadingConfig& reading) {
  std::vector<Doubt> doubts;
  if (!page.error.empty()) return doubts;
  if (has_ink && IsEmptyButSound(page)) {
    doubts.push_back({DoubtKind::kNoText, "no text was read, but the page is not blank"});
  }
  const Counts counts = Count(page);
  if (IsLowThroughout(counts)) {
    doubts.push_back({DoubtKind::kLowConfidence, LowConfidenceText(counts)});
  }
  if (!reading.scripts.empty() && LooksForeign(counts, reading.doubtful_below)) {
    doubts.push_back({DoubtKind::kForeignScript, ForeignText(counts, reading)});
  }
  AddIfCut(page, FinishReason::kRepetition, DoubtKind::kRepetition,
           "it repeated itself without end, at another scale too", doubts);
  AddIfCut(page, FinishReason::kLength, DoubtKind::kTokenLimit, "it has as many tokens as it may",
           doubts);
  return doubts;
}

}  // namespace platen
