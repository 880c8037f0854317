// How long answers turn out to be, learnt while they finish: what a new sequence is given room for.
//
// The answer to an image is expected as a number of tokens per image token, by class of request
// (the kind of a region). The estimate steers memory and speed, never a token.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>

namespace platen {

// Thread-safe.
class AnswerLengths {
 public:
  // An answer of `tokens` has come to its own end.
  void Add(int length_class, int image_tokens, int64_t tokens);

  // Tokens that nine in ten answers of the class stay within; a cautious guess before some have
  // been seen. At least 1.
  int64_t Expected(int length_class, int image_tokens) const;

 private:
  // Answers by tokens per image token; bucket b holds ratios below 2^((b + 1) / 4) / 16.
  static constexpr int kBuckets = 40;
  struct Histogram {
    std::array<double, kBuckets> answers = {};  // fade as newer ones come
    double total = 0;
  };
  static int BucketOf(double ratio);
  static double UpperRatio(int bucket);

  mutable std::mutex mutex_;
  std::map<int, Histogram> classes_;
};

}  // namespace platen
