// How an engine decodes: what its user may choose, and the instruments of tests and tools.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/engine/drafters/drafter.h"
#include "model/engine/fault_point.h"
#include "model/engine/mtp_convention.h"
#include "model/engine/sequence.h"
#include "model/ops/observer.h"

namespace platen {

class Model;

// What one round did for one sequence; for `platen forward` and comparisons with the reference.
struct Round {
  SequenceId sequence = {};
  int64_t cache_len_before = 0;  // target rows in the cache
  int64_t rope_position = 0;     // of the newest decided token, row 0 of the pass
  TokenId anchor = 0;            // that token
  std::vector<TokenId> drafts;
  std::vector<TokenId> target_argmax;  // drafts.size() + 1 rows
  int accepted = 0;
  std::vector<TokenId> emitted;  // decided tokens, stop token included
};

// For tests, goldens and `platen forward`; a run needs none of it.
struct EngineInstruments {
  Observer observer;  // intermediate results of prefill and drafting
  // Called by Step after each sequence's part of a round. What it throws leaves Step, and the
  // engine can only be Reset then.
  std::function<void(const Round&)> on_round;
  MtpConvention mtp_convention;
  // Draft to the full length even where the token limit or a drafted stop token makes the rest
  // useless, as far as the blocks reach that the sequence may hold anyway.
  bool full_drafts = false;
  // Makes the drafter in place of what `drafters` names.
  std::function<std::unique_ptr<Drafter>(const Model& model, KvPool& pool)> make_drafter;
  // Places: "grow", those of the drafter, "verify.NAME" for everything a target pass shows its
  // observer, "verify.logits", "commit.drafter".
  FaultPoint fault_point;
};

// When the draft layer reads a prompt. It costs a fifteenth of a prefill, and only drafts gain.
enum class WarmUp {
  kAuto,    // at once if drafts pay at present, else with the first draft
  kAlways,  // at once
  kLater,   // with the first draft
};

struct EngineOptions {
  int draft_length = 3;  // 0..8 drafts per round (num_speculative_tokens); 0 = plain decoding
  DrafterChoice drafters = DrafterChoice::kAuto;
  // The tokens that the draft layer chooses among; empty: all. See draft_vocabulary.h.
  std::vector<TokenId> draft_vocabulary;
  int64_t kv_cache_bytes = 0;  // 0: 1 GiB
  int kv_block_tokens = 32;    // tests use 16 to hit boundaries often
  // Draft as many tokens as pay just now, at most draft_length; see draft_planner.h. Changes the
  // speed, never a token.
  bool adaptive_drafts = false;
  WarmUp warm_up = WarmUp::kAuto;
  // Told, once, when drafts of a file are given up for the model's own; from the decode stage.
  std::function<void(const std::string&)> on_draft_head_given_up;
  EngineInstruments instruments;
};

inline constexpr int kMaxDraftLength = 8;

}  // namespace platen
