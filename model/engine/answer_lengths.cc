#include "model/engine/answer_lengths.h"

#include <algorithm>
#include <cmath>

namespace platen {
namespace {

// Printed text has about a third of a token per image token (28 x 28 pixels); dense tables have
// more. Until answers of a class have finished, this is given room for.
constexpr double kFirstRatio = 0.5;
constexpr int64_t kMargin = 16;    // tokens on top of the ratio, for short answers
constexpr double kEnoughSeen = 8;  // answers, before the class is believed
constexpr double kMemory = 0.99;   // per answer
constexpr double kQuantile = 0.9;
constexpr double kPerDoubling = 4;  // buckets
constexpr double kSmallestRatio = 1.0 / 16;

}  // namespace

int AnswerLengths::BucketOf(double ratio) {
  if (ratio <= kSmallestRatio) return 0;
  const double place = std::floor(std::log2(ratio / kSmallestRatio) * kPerDoubling);
  return static_cast<int>(std::min(place, static_cast<double>(kBuckets - 1)));
}

double AnswerLengths::UpperRatio(int bucket) {
  return kSmallestRatio * std::exp2((bucket + 1) / kPerDoubling);
}

void AnswerLengths::Add(int length_class, int image_tokens, int64_t tokens) {
  const auto beyond = static_cast<double>(std::max<int64_t>(tokens - kMargin, 0));
  const int bucket = BucketOf(beyond / std::max(image_tokens, 1));
  const std::lock_guard lock(mutex_);
  Histogram& seen = classes_[length_class];
  for (double& answers : seen.answers) answers *= kMemory;
  seen.answers[static_cast<size_t>(bucket)] += 1;
  seen.total = kMemory * seen.total + 1;
}

int64_t AnswerLengths::Expected(int length_class, int image_tokens) const {
  double ratio = kFirstRatio;
  {
    const std::lock_guard lock(mutex_);
    const auto found = classes_.find(length_class);
    if (found != classes_.end() && found->second.total >= kEnoughSeen) {
      const Histogram& seen = found->second;
      double below = 0;
      int bucket = 0;
      for (; bucket < kBuckets - 1; ++bucket) {
        below += seen.answers[static_cast<size_t>(bucket)];
        if (below >= kQuantile * seen.total) break;
      }
      ratio = UpperRatio(bucket);
    }
  }
  return kMargin + static_cast<int64_t>(std::ceil(ratio * image_tokens));
}

}  // namespace platen
