// One request from images to text with everything in between visible: `platen forward`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/engine/all_logits.h"
#include "model/engine/engine.h"
#include "model/families/model.h"

namespace platen {

// Whose logits a dump has: of the last prompt token, or of every position.
enum class DumpedLogits { kLast, kAll };

struct ForwardOptions {
  int draft_length = 3;
  MtpConvention mtp_convention;
  std::string dump_dir;  // empty: no dump; must exist
  DumpedLogits dumped_logits = DumpedLogits::kLast;
  std::vector<TokenId> answer;  // with kAll: tokens behind the prompt (teacher forcing)
  int64_t max_logits_bytes = int64_t{8} << 30;  // of the file with all logits
  int64_t kv_cache_bytes = 0;
};

struct TopToken {
  TokenId id = 0;
  float logit = 0;
  float probability = 0;
  std::string text;
};

struct ForwardResult {
  PromptInput prompt;
  LogitsShape logits;         // that are dumped, [1, vocab] without a dump
  std::vector<TopToken> top;  // the five most likely tokens after the prompt
  SequenceResult recognition;
  std::string text;  // decoded, special tokens skipped
  std::vector<Round> rounds;
  EngineStats stats;
};

// Runs the request alone. With a dump folder, writes the arrays and result.json described in
// docs/FORWARD.md. Throws Error(kInput) as Engine::Prepare and ShapeOfAllLogits do,
// Error(kEnvironment) if the dump cannot be written.
ForwardResult RunForward(const Model& model, Request request, const ForwardOptions& options);

// Random RGB pixels (uniform, splitmix64 of `seed`) of the given size: the same on every machine.
Image SyntheticImage(uint64_t seed, int width, int height);

}  // namespace platen
