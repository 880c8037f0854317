#include "bench/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/support/edit_distance.h"
#include "model/support/utf8.h"

namespace platen {
namespace {

constexpr int64_t kRowsPerHead = 64;  // logits in memory at once, for each side

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

TextDifference CompareText(const std::string& a, const std::string& b) {
  const std::vector<uint32_t> from = CodePoints(a);
  return {static_cast<int64_t>(from.size()), EditDistance(from, CodePoints(b))};
}

bool SameRegions(const PageReading& a, const PageReading& b) {
  return std::equal(a.crops.begin(), a.crops.end(), b.crops.begin(), b.crops.end(),
                    [](const CropOutcome& x, const CropOutcome& y) {
                      return x.origin.line == y.origin.line && x.origin.part == y.origin.part;
                    });
}

void CompareTokens(const std::vector<TokenId>& a, const std::vector<TokenId>& b,
                   TokenDifference& sum) {
  const auto symbols = [](const std::vector<TokenId>& ids) {
    return std::vector<uint32_t>(ids.begin(), ids.end());
  };
  ++sum.regions;
  sum.identical_regions += a == b ? 1 : 0;
  sum.tokens += static_cast<int64_t>(std::max(a.size(), b.size()));
  sum.edits += EditDistance(symbols(a), symbols(b));
}

int64_t Failures(const PageReading& reading) {
  return std::count_if(reading.crops.begin(), reading.crops.end(),
                       [](const CropOutcome& region) { return !region.error.empty(); });
}

// Infinite if either is not a number.
double LargestDifference(const float* a, const float* b, int64_t count) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

TokenId Largest(const float* logits, int64_t count) {
  return static_cast<TokenId>(std::max_element(logits, logits + count) - logits);
}

}  // namespace

double TextDifference::cer() const {
  if (characters == 0) return edits == 0 ? 0 : 1;
  return Share(edits, characters);
}

double TokenDifference::agreement() const { return Share(tokens - edits, tokens); }

double LogitDifference::agreement() const { return Share(same_choice, places); }

void LogitDifference::Add(const LogitDifference& other) {
  const int64_t all_places = places + other.places;
  const int64_t all_same = same_choice + other.same_choice;
  if (other.largest > largest) *this = other;
  places = all_places;
  same_choice = all_same;
}

PageComparison ComparePage(const PageReading& a, const PageReading& b) {
  PageComparison page;
  page.text = CompareText(a.text, b.text);
  page.failed_regions_a = Failures(a);
  page.failed_regions_b = Failures(b);
  page.same_regions = SameRegions(a, b);
  for (size_t i = 0; page.same_regions && i < a.crops.size(); ++i) {
    const Sequence* x = a.crops[i].sequence.get();
    const Sequence* y = b.crops[i].sequence.get();
    if (x && y) CompareTokens(x->result.tokens, y->result.tokens, page.tokens);
  }
  return page;
}

ComparisonSummary Summarise(const std::vector<PageComparison>& pages) {
  ComparisonSummary all;
  std::vector<double> cers;
  for (const PageComparison& page : pages) {
    if (!page.error.empty()) {
      ++all.failed_pages;
      continue;
    }
    ++all.pages;
    all.failed_regions += page.failed_regions_a + page.failed_regions_b;
    all.text.characters += page.text.characters;
    all.text.edits += page.text.edits;
    all.tokens.regions += page.tokens.regions;
    all.tokens.identical_regions += page.tokens.identical_regions;
    all.tokens.tokens += page.tokens.tokens;
    all.tokens.edits += page.tokens.edits;
    if (page.logits.largest > all.logits.largest) {
      all.largest_logit_page = page.name + " page " + std::to_string(page.page);
    }
    all.logits.Add(page.logits);
    cers.push_back(page.text.cer());
    all.mean_cer += page.text.cer();
  }
  if (cers.empty()) return all;
  std::sort(cers.begin(), cers.end());
  all.mean_cer /= static_cast<double>(cers.size());
  all.median_cer = (cers[(cers.size() - 1) / 2] + cers[cers.size() / 2]) / 2;
  all.worst_cer = cers.back();
  return all;
}

std::vector<size_t> WorstPages(const std::vector<PageComparison>& pages, size_t count) {
  std::vector<size_t> worst;
  for (size_t i = 0; i < pages.size(); ++i) {
    if (pages[i].error.empty() && (pages[i].text.edits > 0 || pages[i].tokens.edits > 0)) {
      worst.push_back(i);
    }
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [&](size_t x, size_t y) { return pages[x].text.cer() > pages[y].text.cer(); });
  worst.resize(std::min(worst.size(), count));
  return worst;
}

bool SameTokens(const Tokenizer& a, const Tokenizer& b) {
  if (a.max_id() != b.max_id()) return false;
  for (TokenId id = 0; id <= a.max_id(); ++id) {
    if (a.IsAdded(id) != b.IsAdded(id) || a.Bytes(id, false) != b.Bytes(id, false)) return false;
  }
  return true;
}

LogitComparer::LogitComparer(const Model& a, const Model& b)
    : model_a_(a), model_b_(b), pass_a_(a), pass_b_(b) {}

LogitDifference LogitComparer::Compare(const PageReading& a, const PageReading& b) {
  LogitDifference sum;
  for (size_t i = 0; i < a.crops.size(); ++i) {
    const Sequence* x = a.crops[i].sequence.get();
    const Sequence* y = b.crops[i].sequence.get();
    if (x && y) CompareRegion(*x, *y, static_cast<int>(i) + 1, sum);
  }
  return sum;
}

void LogitComparer::CompareRegion(const Sequence& a, const Sequence& b, int region,
                                  LogitDifference& sum) {
  // The stop token counts: where to end is a choice as well.
  const auto answer = std::span(a.tokens).subspan(static_cast<size_t>(a.prompt_len()));
  const ConstMatView hidden_a = pass_a_.Hidden(a, answer);
  const ConstMatView hidden_b = pass_b_.Hidden(b, answer);
  for (int64_t row = 0; row < hidden_a.rows; row += kRowsPerHead) {
    const int64_t count = std::min(kRowsPerHead, hidden_a.rows - row);
    CompareRows(pass_a_.Logits(hidden_a.Rows(row, count)),
                pass_b_.Logits(hidden_b.Rows(row, count)), region, static_cast<int>(row) + 1, sum);
  }
}

void LogitComparer::CompareRows(ConstMatView a, ConstMatView b, int region, int first_place,
                                LogitDifference& sum) const {
  const int64_t vocabulary = std::min(a.cols, b.cols);
  for (int64_t row = 0; row < a.rows; ++row) {
    const float* x = a.Row(row);
    const float* y = b.Row(row);
    const double largest = LargestDifference(x, y, vocabulary);
    const TokenId chosen_a = Largest(x, vocabulary);
    const TokenId chosen_b = Largest(y, vocabulary);
    ++sum.places;
    sum.same_choice += chosen_a == chosen_b ? 1 : 0;
    if (largest <= sum.largest) continue;
    sum.largest = largest;
    sum.largest_region = region;
    sum.largest_place = first_place + static_cast<int>(row);
    sum.chosen_a = model_a_.tokenizer().Decode({&chosen_a, 1}, false);
    sum.chosen_b = model_b_.tokenizer().Decode({&chosen_b, 1}, false);
  }
}

}  // namespace platen
