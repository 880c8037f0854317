// What is asked of the engine and what comes back: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/families/vision_model.h"
#include "model/support/token_id.h"

namespace platen {

// kFailed: Recognition::error says why. kCancelled: taken out before its end.
enum class FinishReason { kStop, kLength, kRepetition, kFailed, kCancelled };

// One thing to read: images in order and the text that follows them.
struct Request {
  std::vector<PreparedImage> images;  // usually one crop
  std::string task_text;
  int max_new_tokens = 0;  // 0: derived from the number of image tokens, see DefaultTokenLimit
  float repetition_penalty = 1.0F;
  std::vector<TokenId> stop;  // ids that end the answer; empty: the model's
  bool ignore_stop = false;   // for measurements: generate exactly max_new_tokens
};

// What requests made from crops share.
struct RequestOptions {
  std::string task_text;   // the prompt that follows the crop
  int max_new_tokens = 0;  // as in Request, and the following too
  float repetition_penalty = 1.0F;
  bool ignore_stop = false;
};

// One crop and its prompt. Throws Error(kInput) for a crop the encoder cannot take.
Request MakeRequest(const VisionModel& vision, const Image& crop, const RequestOptions& options);

struct SequenceResult {
  std::vector<TokenId> tokens;       // without the stop token
  std::vector<float> probabilities;  // of each token, softmax of the target's logits
  FinishReason finish = FinishReason::kStop;
  std::string error;  // for kFailed
  int prompt_tokens = 0;
  int image_tokens = 0;
};

// Tokens a region may produce when the request sets no limit: generous for any text that fits into
// its pixels, small enough to bound a runaway.
int DefaultTokenLimit(int image_tokens);

}  // namespace platen
