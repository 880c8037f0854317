#include "bench/group_choice.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>

namespace platen {
namespace {

constexpr int64_t kMaxRows = 512;   // of each linear
constexpr int64_t kErrorRows = 64;  // multiplied at once

// Sums of squares of y8 - y and of y.
struct ErrorSums {
  double difference = 0;
  double size = 0;
  double relative() const { return size > 0 ? std::sqrt(difference / size) : 0; }
};

void AddRows(ConstMatView y, ConstMatView y8, ErrorSums& sums) {
  for (int64_t r = 0; r < y.rows; ++r) {
    for (int64_t c = 0; c < y.cols; ++c) {
      const double exact = y.Row(r)[c];
      const double difference = static_cast<double>(y8.Row(r)[c]) - exact;
      sums.difference += difference * difference;
      sums.size += exact * exact;
    }
  }
}

double RelativeError(const KernelTable& kernels, const Linear& f32, const Linear& int8,
                     ConstMatView x) {
  LinearWorkspace workspace;
  Mat y, y8;
  ErrorSums sums;
  for (int64_t row = 0; row < x.rows; row += kErrorRows) {
    const int64_t count = std::min(kErrorRows, x.rows - row);
    f32.Apply(kernels, x.Rows(row, count), y.Shaped(count, f32.columns()), workspace);
    int8.Apply(kernels, x.Rows(row, count), y8.Shaped(count, f32.columns()), workspace);
    AddRows(y.View(), y8.View(), sums);
  }
  return sums.relative();
}

// How a group divides a linear: groups at least as long as the depth are all the same.
int64_t Effective(int group, int64_t depth) {
  return group == WeightFormat::kWholeDepth ? depth : std::min<int64_t>(group, depth);
}

}  // namespace

ActivationSamples::ActivationSamples(const Model& model)
    : model_(model), vision_workspace_(RequireVision(model).MakeWorkspace()), forced_(model) {
  for (const Module& module : model.modules().modules()) {
    if (module.is_linear()) samples_[module.linear()];
  }
  const auto observe = [this](const Linear& linear, ConstMatView x) { Add(linear, x); };
  vision_workspace_->linear.observer = observe;
  forced_.workspace().linear.observer = observe;
}

void ActivationSamples::AddPage(const PageReading& page) {
  for (const CropOutcome& region : page.crops) {
    if (!region.sequence) continue;
    const Sequence& s = *region.sequence;
    std::vector<const PreparedImage*> images;
    for (const PreparedImage& image : s.request.images) images.push_back(&image);
    MatView out =
        vision_out_.Shaped(s.result.image_tokens, model_.architecture().text().hidden_size);
    model_.vision()->Encode(images, *vision_workspace_, out, {});
    const auto answer = std::span(s.tokens).subspan(static_cast<size_t>(s.prompt_len()));
    forced_.Logits(forced_.Hidden(s, answer));
  }
}

// When the store is full, every second row is dropped and half as many of those to come are kept.
void ActivationSamples::Add(const Linear& linear, ConstMatView x) {
  Sample& sample = samples_.at(&linear);
  sample.cols = x.cols;
  for (int64_t r = 0; r < x.rows; ++r) {
    if (sample.seen++ % sample.every != 0) continue;
    sample.rows.insert(sample.rows.end(), x.Row(r), x.Row(r) + x.cols);
    if (static_cast<int64_t>(sample.rows.size()) < kMaxRows * x.cols) continue;
    for (int64_t i = 1; 2 * i < kMaxRows; ++i) {
      std::copy_n(sample.rows.begin() + 2 * i * x.cols, x.cols, sample.rows.begin() + i * x.cols);
    }
    sample.rows.resize(static_cast<size_t>(kMaxRows / 2 * x.cols));
    sample.every *= 2;
  }
}

ConstMatView ActivationSamples::Rows(const Linear& linear) const {
  const Sample& sample = samples_.at(&linear);
  if (sample.cols == 0) return {};
  return {sample.rows.data(), static_cast<int64_t>(sample.rows.size()) / sample.cols, sample.cols,
          sample.cols};
}

void AddErrors(const Model& f32, const Model& int8, const ActivationSamples& samples,
               std::vector<KindErrors>& kinds) {
  const std::vector<Module>& exact = f32.modules().modules();
  const std::vector<Module>& quantised = int8.modules().modules();
  const bool first = kinds.empty();
  std::map<std::string, double> worst;
  for (size_t i = 0; i < exact.size(); ++i) {
    if (!exact[i].is_linear()) continue;
    const Linear& linear = *exact[i].linear();
    const ConstMatView x = samples.Rows(linear);
    if (x.rows == 0) continue;
    const std::string kind = PatternOf(exact[i].name);
    if (first && !worst.contains(kind)) kinds.push_back({kind, linear.depth(), {}, 0});
    double& error = worst[kind];
    error = std::max(error, RelativeError(f32.kernels(), linear, *quantised[i].linear(), x));
  }
  for (KindErrors& kind : kinds) kind.errors.push_back(worst.at(kind.kind));
}

int ChooseGroup(const std::vector<double>& errors, double bound) {
  assert(errors.size() == std::size(kGroupCandidates));
  size_t chosen = 0;
  for (size_t i = 1; i < errors.size(); ++i) {
    const double added = std::max(0.0, errors[i] * errors[i] - errors[0] * errors[0]);
    if (std::sqrt(added) <= bound) chosen = i;
  }
  return kGroupCandidates[chosen];
}

QuantizationPlan PlanOf(const std::vector<KindErrors>& kinds) {
  QuantizationPlan plan;
  for (const KindErrors& kind : kinds) {
    if (Effective(kind.chosen, kind.depth) == Effective(plan.group(), kind.depth)) continue;
    plan.Set(kind.kind, kind.chosen);
  }
  return plan;
}

}  // namespace platen
