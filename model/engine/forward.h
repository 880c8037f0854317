// One request from images to text with everything in between visible: `platen forward`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/engine/engine.h"
#include "model/families/model.h"

namespace platen {

struct ForwardOptions {
  int draft_length = 3;
  MtpConvention mtp_convention;
  std::string dump_dir;  // empty: no dump; must exist
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
  int64_t vocab_size = 0;
  std::vector<TopToken> top;  // the five most likely tokens after the prompt
  SequenceResult recognition;
  std::string text;  // decoded, special tokens skipped
  std::vector<Round> rounds;
  EngineStats stats;
};

// Runs the request alone. With a dump folder, writes the arrays and result.json described in
// docs/FORWARD.md. Throws Error(kInput) as Engine::Prepare does, Error(kEnvironment) if the dump
// cannot be written.
ForwardResult RunForward(const Model& model, Request request, const ForwardOptions& options);

// Random RGB pixels (uniform, splitmix64 of `seed`) of the given size: the same on every machine.
Image SyntheticImage(uint64_t seed, int width, int height);

}  // namespace platen
