#include "model/engine/endings.h"

#include <algorithm>
#include <functional>
#include <string>

#include "model/engine/stop_strings.h"
#include "model/tokenizer/tokenizer.h"

namespace platen {
namespace {

RepetitionGuard::Room RoomOf(const Request& request) {
  RepetitionGuard::Room room;
  for (const PreparedImage& image : request.images) {
    room.width = std::max(room.width, image.pixels.width);
    room.height += image.pixels.height;
  }
  return room;
}

bool EndIfItLoops(const Tokenizer& tokenizer, Sequence& s) {
  SequenceResult& result = s.result;
  const auto kind_of = [&](std::span<const TokenId> unit) {
    std::string text;
    for (const TokenId id : unit) text += tokenizer.Bytes(id, true);
    return ClassifyUnit(text);
  };
  const auto loop = s.repetition.Push(result.tokens, RoomOf(s.request), std::cref(kind_of));
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
  if (EndsWithStopString(tokenizer, s.request.stop_strings, s.result.tokens)) {
    s.Finish(FinishReason::kStop);
    return true;
  }
  return !s.request.ignore_stop && EndIfItLoops(tokenizer, s);
}

}  // namespace platen
