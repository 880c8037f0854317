#include "model/engine/endings.h"

#include <algorithm>
#include <functional>
#include <string>

#include "model/engine/stop_strings.h"
#include "model/tokenizer/tokenizer.h"

namespace platen {
namespace {

RepetitionGuard::Limits LimitsOf(const Request& request) {
  int width = 0, height = 0;
  for (const PreparedImage& image : request.images) {
    width = std::max(width, image.pixels.width);
    height += image.pixels.height;
  }
  return RepetitionGuard::Limits::OfImage(width, height);
}

bool EndIfItLoops(const Tokenizer& tokenizer, Sequence& s) {
  SequenceResult& result = s.result;
  const auto kind_of = [&](std::span<const TokenId> unit) {
    std::string text;
    for (const TokenId id : unit) text += tokenizer.Bytes(id, true);
    return ClassifyUnit(text);
  };
  const auto loop = s.repetition.Push(result.tokens, LimitsOf(s.request), std::cref(kind_of));
  if (!loop) return false;
  const auto kept = static_cast<size_t>(loop->start + loop->period);
  result.repeated_tokens = static_cast<int>(result.tokens.size() - kept);
  result.tokens.resize(kept);
  result.probabilities.resize(kept);
  s.Finish(FinishReason::kRepetition);
  return true;
}

}  // namespace

bool EndIfItMust(const Tokenizer& tokenizer, Sequence& s) {
  const int ends_after = s.request.ends_after;
  if ((ends_after > 0 && s.num_decided() >= ends_after) ||
      EndsWithStopString(tokenizer, s.request.stop_strings, s.result.tokens)) {
    s.Finish(FinishReason::kStop);
    return true;
  }
  return !s.request.ignore_stop && EndIfItLoops(tokenizer, s);
}

}  // namespace platen
