// How two readings of the same pages differ: text, tokens, and the numbers behind the tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/engine/teacher_forced.h"
#include "stages/page_reader.h"

namespace platen {

// Characters of B's text against A's.
struct TextDifference {
  int64_t characters = 0;  // of A, line breaks included
  int64_t edits = 0;       // insertions, deletions and substitutions from A to B

  // Edits for each character of A; 1 if A has none and B has some.
  double cer() const;
};

// Tokens of the regions that both sides read.
struct TokenDifference {
  int64_t regions = 0;
  int64_t identical_regions = 0;  // equal token by token
  int64_t tokens = 0;             // of the longer side of each region
  int64_t edits = 0;              // insertions, deletions and substitutions of whole tokens

  double agreement() const;  // share of equal tokens; 1 if there are none
};

// Both sides on A's tokens (teacher_forced.h), place by place.
struct LogitDifference {
  int64_t places = 0;
  int64_t same_choice = 0;  // places whose largest logit is the same token's
  double largest = 0;       // |A - B| over all places and tokens
  int largest_region = 0;   // where it is: region of the page, place in its answer, both from 1
  int largest_place = 0;
  std::string chosen_a;  // text of the largest logits there
  std::string chosen_b;

  double agreement() const;
  void Add(const LogitDifference& other);
};

// One page of both sides.
struct PageComparison {
  std::string name;   // of the document
  int page = 0;       // from 1
  std::string error;  // not empty: the page could not be read, nothing else is set
  TextDifference text;
  bool same_regions = true;  // false: tokens and logits cannot be compared, the crops differ
  TokenDifference tokens;
  LogitDifference logits;
  int64_t failed_regions_a = 0;
  int64_t failed_regions_b = 0;
};

// Sums and statistics over pages.
struct ComparisonSummary {
  int64_t pages = 0;  // compared
  int64_t failed_pages = 0;
  int64_t failed_regions = 0;  // of either side
  TextDifference text;
  TokenDifference tokens;
  LogitDifference logits;
  double mean_cer = 0;  // of pages
  double median_cer = 0;
  double worst_cer = 0;
  std::string largest_logit_page;  // "name page 3"
};

// Text and tokens of one page.
PageComparison ComparePage(const PageReading& a, const PageReading& b);

ComparisonSummary Summarise(const std::vector<PageComparison>& pages);

// Indices of the pages with differences, the most different first, at most `count`.
std::vector<size_t> WorstPages(const std::vector<PageComparison>& pages, size_t count);

// True if both give every id the same string, so that ids may be compared.
bool SameTokens(const Tokenizer& a, const Tokenizer& b);

// Compares two models on the first one's tokens. Memory is that of one region. Both have the same
// tokens; both outlive it.
class LogitComparer {
 public:
  LogitComparer(const Model& a, const Model& b);

  // Regions that both sides read; a and b have the same regions.
  LogitDifference Compare(const PageReading& a, const PageReading& b);

 private:
  void CompareRegion(const Sequence& a, const Sequence& b, int region, LogitDifference& sum);
  void CompareRows(ConstMatView a, ConstMatView b, int region, int first_place,
                   LogitDifference& sum) const;

  const Model& model_a_;
  const Model& model_b_;
  TeacherForcedPass pass_a_;
  TeacherForcedPass pass_b_;
};

}  // namespace platen
