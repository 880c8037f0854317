#include "model/engine/request.h"

#include <algorithm>

namespace platen {

std::optional<DrafterChoice> FindDrafterChoice(std::string_view name) {
  if (name == "auto") return DrafterChoice::kAuto;
  if (name == "mtp") return DrafterChoice::kMtp;
  if (name == "ngram") return DrafterChoice::kNgram;
  if (name == "mtp,ngram") return DrafterChoice::kBoth;
  if (name == "none") return DrafterChoice::kNone;
  return std::nullopt;
}

Request MakeRequest(const VisionModel& vision, const Image& crop, const RequestOptions& options) {
  Request request;
  request.images.push_back(vision.Prepare(crop));
  request.task_text = options.task_text;
  request.max_new_tokens = options.max_new_tokens;
  request.min_new_tokens = options.min_new_tokens;
  request.sampling = options.sampling;
  request.drafting = options.drafting;
  request.ignore_stop = options.ignore_stop;
  request.length_class = options.length_class;
  request.ends_after = options.ends_after;
  return request;
}

const char* FinishReasonName(FinishReason reason) {
  static constexpr const char* kNames[] = {"stop", "length", "repetition", "failed", "cancelled"};
  return kNames[static_cast<size_t>(reason)];
}

int DefaultTokenLimit(int image_tokens) {
  // An image token covers 28 x 28 pixels. Eight tokens in it would be letters of seven pixels in
  // two lines; 8192 is the model card's own limit.
  constexpr int kPerImageToken = 8;
  constexpr int kMargin = 32;
  constexpr int kMost = 8192;
  return image_tokens > kMost / kPerImageToken
             ? kMost
             : std::min(kMost, kMargin + kPerImageToken * image_tokens);
}

}  // namespace platen
