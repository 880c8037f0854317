// Which group sizes the int8 linears of a model need, measured on the activations of real pages.
//
// A linear's error is |y8 - y| / |y|: how far its int8 output is from its f32 output on the same
// inputs, as a share of the output's size, over all sampled rows. Small groups follow the size of
// weights and activations closely and cost speed; the smallest candidate stands for what int8 costs
// in any case. Errors of rounding are independent, so what a larger group adds is sqrt(error^2 -
// smallest^2). The rule: the largest group that adds at most a bound, in the worst layer of its
// kind.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/checkpoint/quantization_plan.h"
#include "model/engine/teacher_forced.h"
#include "model/families/model.h"
#include "stages/page_reader.h"

namespace platen {

// Candidates in ascending order; the last one is the whole depth.
inline constexpr int kGroupCandidates[] = {64, 128, 256, 512, WeightFormat::kWholeDepth};

// Inputs of every linear, gathered from pages read in f32. Memory is bounded: a fixed number of
// rows for each linear, thinned out evenly over all that come.
class ActivationSamples {
 public:
  // `model` is f32 and outlives the samples.
  explicit ActivationSamples(const Model& model);

  // Runs the regions of a page once more, with their own answers.
  void AddPage(const PageReading& page);

  // Sampled inputs of a linear of the model; no rows: never used.
  ConstMatView Rows(const Linear& linear) const;

 private:
  struct Sample {
    std::vector<float> rows;
    int64_t cols = 0;
    int64_t every = 1;  // of the rows that came, each such is kept
    int64_t seen = 0;
  };
  void Add(const Linear& linear, ConstMatView x);

  const Model& model_;
  std::map<const Linear*, Sample> samples_;
  std::unique_ptr<Workspace> vision_workspace_;
  Mat vision_out_;
  TeacherForcedPass forced_;
};

// One kind of linear.
struct KindErrors {
  std::string kind;
  int64_t depth = 0;
  std::vector<double> errors;  // by candidate; of the kind's worst layer
  int chosen = 0;              // one of kGroupCandidates
};

// Adds one candidate's errors to `kinds` (made by the first call). `f32` and `int8` are the same
// snapshot.
void AddErrors(const Model& f32, const Model& int8, const ActivationSamples& samples,
               std::vector<KindErrors>& kinds);

// The rule above. `bound` is a share, such as 0.01.
int ChooseGroup(const std::vector<double>& errors, double bound);

// What must be written down: kinds whose choice differs from what the default group gives.
QuantizationPlan PlanOf(const std::vector<KindErrors>& kinds);

}  // namespace platen
