// What is asked of the engine and what comes back: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/sampling_options.h"
#include "model/families/prompt.h"
#include "model/families/vision_model.h"
#include "model/support/token_id.h"

namespace platen {

// kFailed: Recognition::error says why. kCancelled: taken out before its end.
enum class FinishReason { kStop, kLength, kRepetition, kFailed, kCancelled };
// "stop", "length", "repetition", "failed", "cancelled".
const char* FinishReasonName(FinishReason reason);

// Who drafts: the model's own draft layer (multi-token prediction), a lookup in what the sequence
// has said, both, or nobody. kAuto: both, or without a draft layer the lookup.
enum class DrafterChoice { kAuto, kMtp, kNgram, kBoth, kNone };

// "auto", "mtp", "ngram", "mtp,ngram", "none"; nothing for other words.
std::optional<DrafterChoice> FindDrafterChoice(std::string_view name);

// How drafts are made for a request, within what the engine has.
struct DraftingOptions {
  int length = -1;  // most drafts per round, at most the engine's; -1: the engine's
  DrafterChoice drafters = DrafterChoice::kAuto;  // those of the engine's that may; kAuto: all

  bool allows(DrafterChoice drafter) const {  // kMtp or kNgram
    return drafters == drafter || drafters == DrafterChoice::kAuto ||
           drafters == DrafterChoice::kBoth;
  }
};

// What speculation did for one request. It depends on the clock (the planner) and on who else was
// being decoded, so it never belongs into a document's outputs.
struct RequestStats {
  int rounds = 0;       // target passes with rows of the request, prefills aside
  int drafted = 0;      // drafts that were verified
  int accepted = 0;     // of them
  int preemptions = 0;  // times it gave its cache blocks to others and was prefilled again
};

// One thing to read: images in order and the text that follows them.
struct Request {
  std::vector<PreparedImage> images;  // usually one crop
  std::string task_text;
  std::vector<ChatTurn> messages;  // a conversation in place of images and task_text; empty: none
  int max_new_tokens = 0;  // 0: derived from the number of image tokens, see DefaultTokenLimit
  int min_new_tokens = 0;  // no stop token before so many
  SamplingOptions sampling = {};
  DraftingOptions drafting = {};
  std::vector<std::string> stop_strings;  // texts that end the answer and are no part of it
  std::vector<TokenId> stop;              // ids that end the answer; empty: the model's
  bool ignore_stop = false;               // for measurements: generate exactly max_new_tokens
  // Requests of a class (the kind of a region) tend to have answers of a like length for their
  // size; memory is shared out by it.
  int length_class = 0;
  // For measurements: the answer ends by itself after so many tokens; its limit stays. 0: it does
  // not.
  int ends_after = 0;
};

// What requests made from crops share.
struct RequestOptions {
  std::string task_text;   // the prompt that follows the crop
  int max_new_tokens = 0;  // as in Request, and the following too
  int min_new_tokens = 0;
  SamplingOptions sampling = {};
  DraftingOptions drafting = {};
  bool ignore_stop = false;
  int length_class = 0;
  int ends_after = 0;
};

// One crop and its prompt. Throws Error(kInput) for a crop the encoder cannot take.
Request MakeRequest(const VisionModel& vision, const Image& crop, const RequestOptions& options);

struct SequenceResult {
  std::vector<TokenId> tokens;       // without the stop token
  std::vector<float> probabilities;  // of each token, softmax of the target's logits
  FinishReason finish = FinishReason::kStop;
  std::string error;        // for kFailed
  int repeated_tokens = 0;  // for kRepetition: cut off behind the first unit
  int prompt_tokens = 0;
  int image_tokens = 0;
  RequestStats stats;
};

// Tokens a region may produce when the request sets no limit: generous for any text that fits into
// its pixels, small enough to bound a runaway.
int DefaultTokenLimit(int image_tokens);

}  // namespace platen
