#include "model/engine/sequence.h"

#include <stdexcept>

namespace platen {
namespace {

void Require(bool holds, const char* rule) {
  if (!holds) throw std::logic_error(std::string("sequence invariant broken: ") + rule);
}

}  // namespace

void Sequence::Restart() {
  tokens = prompt.input_ids;
  cache_len = 0;
  seen.clear();
  for (const TokenId token : tokens) Remember(token);
  repetition.Reset();
  drafting = {};
  finished = false;
  result.tokens.clear();
  result.probabilities.clear();
  result.repeated_tokens = 0;
  result.finish = FinishReason::kStop;
  result.error.clear();
}

void Sequence::ReserveTokens() {
  const auto most = static_cast<size_t>(max_new_tokens);
  tokens.reserve(prompt.input_ids.size() + most);
  result.tokens.reserve(most);
  result.probabilities.reserve(most);
  if (request.sampling.repetition_penalty != 1.0F) seen.reserve(prompt.input_ids.size() + most);
}

bool Sequence::Decide(TokenId token, float probability) {
  tokens.push_back(token);
  Remember(token);
  if (IsStop(token)) {
    Finish(FinishReason::kStop);
    return false;
  }
  result.tokens.push_back(token);
  result.probabilities.push_back(probability);
  if (num_decided() >= max_new_tokens) {
    Finish(FinishReason::kLength);
  }
  return !finished;
}

void Sequence::Finish(FinishReason reason) {
  finished = true;
  result.finish = reason;
}

void Sequence::Fail(const std::string& why) {
  Finish(FinishReason::kFailed);
  result.error = why;
}

void Sequence::Remember(TokenId token) {
  if (request.sampling.repetition_penalty == 1.0F) return;
  if (std::find(seen.begin(), seen.end(), token) == seen.end()) seen.push_back(token);
}

void CheckInvariants(const Sequence& s, const KvPool& pool) {
  Require(s.cache_len == s.prompt_len() + s.num_decided() - 1, "all but the anchor are cached");
  Require(static_cast<int64_t>(s.blocks.size()) >= pool.BlocksFor(s.cache_len),
          "all cached rows have a block");
}

}  // namespace platen
