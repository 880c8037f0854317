#include "model/families/pp_doclayout/detections.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "model/support/fixed_math.h"

namespace platen::pp_doclayout {
namespace {

struct Guess {
  int64_t query = 0;
  int64_t label = 0;
  double score = 0;
};

// The `count` best, best first; of equals the first pair.
std::vector<Guess> BestGuesses(ConstMatView logits, int64_t count) {
  std::vector<Guess> all;
  for (int64_t q = 0; q < logits.rows; ++q) {
    for (int64_t label = 0; label < logits.cols; ++label) {
      all.push_back({q, label, FixedSigmoid(static_cast<double>(logits.Row(q)[label]))});
    }
  }
  const auto keep = static_cast<ptrdiff_t>(std::min(count, std::ssize(all)));
  std::partial_sort(all.begin(), all.begin() + keep, all.end(), [](const Guess& a, const Guess& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.query != b.query ? a.query < b.query : a.label < b.label;
  });
  all.resize(static_cast<size_t>(keep));
  return all;
}

}  // namespace

std::vector<double> OrderVotes(ConstMatView order_logits) {
  std::vector<double> votes(static_cast<size_t>(order_logits.rows));
  for (int64_t i = 0; i < order_logits.rows; ++i) {
    for (int64_t j = i + 1; j < order_logits.rows; ++j) {
      const double before = FixedSigmoid(static_cast<double>(order_logits.Row(i)[j]));
      votes[static_cast<size_t>(j)] += before;
      votes[static_cast<size_t>(i)] += 1 - before;
    }
  }
  return votes;
}

std::vector<int64_t> OrderRanks(const std::vector<double>& votes) {
  std::vector<size_t> sorted(votes.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](size_t a, size_t b) { return votes[a] < votes[b]; });
  std::vector<int64_t> ranks(votes.size());
  for (size_t place = 0; place < sorted.size(); ++place) {
    ranks[sorted[place]] = static_cast<int64_t>(place);
  }
  return ranks;
}

std::vector<Detection> Detections(const NetworkResult& result,
                                  const std::vector<std::string>& labels, int page_width,
                                  int page_height, const ArrayObserver& observer) {
  const std::vector<double> votes = OrderVotes(result.order_logits);
  const std::vector<int64_t> ranks = OrderRanks(votes);
  if (observer) {
    const std::vector<float> narrow(votes.begin(), votes.end());
    observer({"order_votes", {std::ssize(votes)}, std::span<const float>(narrow)});
    observer({"order_rank", {std::ssize(ranks)}, std::span<const int64_t>(ranks)});
  }
  std::vector<Detection> found;
  for (const Guess& guess : BestGuesses(result.logits, result.logits.rows)) {
    if (guess.score < kScoreThreshold) continue;
    const float* box = result.boxes.Row(guess.query);
    const double cx = static_cast<double>(box[0]), cy = static_cast<double>(box[1]);
    const double w = static_cast<double>(box[2]) / 2, h = static_cast<double>(box[3]) / 2;
    const std::string& label = labels[static_cast<size_t>(guess.label)];
    found.push_back({.kind = KindOfLabel(label),
                     .label = label,
                     .score = guess.score,
                     .x0 = (cx - w) * page_width,
                     .y0 = (cy - h) * page_height,
                     .x1 = (cx + w) * page_width,
                     .y1 = (cy + h) * page_height,
                     .order = static_cast<int>(ranks[static_cast<size_t>(guess.query)]),
                     .query = static_cast<int>(guess.query)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Detection& a, const Detection& b) { return a.order < b.order; });
  return found;
}

RegionKind KindOfLabel(const std::string& label) {
  static const auto& kinds = *new std::map<std::string_view, RegionKind>{
      {"abstract", RegionKind::kText},
      {"algorithm", RegionKind::kCode},
      {"aside_text", RegionKind::kAside},
      {"chart", RegionKind::kChart},
      {"content", RegionKind::kText},
      {"display_formula", RegionKind::kFormula},
      {"doc_title", RegionKind::kTitle},
      {"figure_title", RegionKind::kCaption},
      {"footer", RegionKind::kFooter},
      {"footer_image", RegionKind::kFigure},
      {"footnote", RegionKind::kFootnote},
      {"formula_number", RegionKind::kFormulaNumber},
      {"header", RegionKind::kHeader},
      {"header_image", RegionKind::kFigure},
      {"image", RegionKind::kFigure},
      {"inline_formula", RegionKind::kFormula},
      {"number", RegionKind::kPageNumber},
      {"paragraph_title", RegionKind::kHeading},
      {"reference", RegionKind::kReference},
      {"reference_content", RegionKind::kReference},
      {"seal", RegionKind::kSeal},
      {"table", RegionKind::kTable},
      {"text", RegionKind::kText},
      {"vertical_text", RegionKind::kVerticalText},
      {"vision_footnote", RegionKind::kCaption},
  };
  const auto found = kinds.find(label);
  return found == kinds.end() ? RegionKind::kText : found->second;
}

}  // namespace platen::pp_doclayout
