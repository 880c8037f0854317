#include "model/engine/engine.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <string>
#include <utility>

#include "model/engine/answer_lengths.h"
#include "model/engine/decode_rounds.h"
#include "model/engine/drafters/combined_drafter.h"
#include "model/engine/drafters/ngram_lookup.h"
#include "model/engine/drafters/own_drafter.h"
#include "model/engine/endings.h"
#include "model/engine/prompt_embedding.h"
#include "model/engine/stop_strings.h"
#include "model/engine/target_pass.h"
#include "model/families/model.h"
#include "model/support/attempt.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr int64_t kDefaultKvBytes = int64_t{1} << 30;
// Of the blocks, kept free for sequences that grow when a new one comes in.
constexpr int64_t kKeptFree = 32;

std::unique_ptr<Drafter> MakeDrafter(const Model& model, const EngineOptions& options, KvPool& pool,
                                     EngineCounters& counters) {
  const EngineInstruments& instruments = options.instruments;
  if (options.draft_length <= 0) return nullptr;
  if (instruments.make_drafter) return instruments.make_drafter(model, pool);
  DrafterChoice choice = options.drafters;
  if (choice == DrafterChoice::kAuto) {
    choice = model.drafts() ? DrafterChoice::kBoth : DrafterChoice::kNgram;
  }
  if (choice == DrafterChoice::kNone) return nullptr;
  if (choice == DrafterChoice::kNgram) return std::make_unique<NgramLookup>();
  std::unique_ptr<Drafter> layer =
      MakeOwnDrafter(model, options, pool, [&](const std::string& why) {
        counters.Update([&](EngineStats& stats) { stats.draft_head_given_up = why; });
        if (options.on_draft_head_given_up) options.on_draft_head_given_up(why);
      });
  if (layer == nullptr) return nullptr;
  if (choice == DrafterChoice::kMtp) return layer;
  return std::make_unique<CombinedDrafter>(std::move(layer));
}

EngineOptions Resolved(const EngineOptions& options) {
  EngineOptions resolved = options;
  resolved.draft_length = std::clamp(options.draft_length, 0, kMaxDraftLength);
  if (resolved.kv_cache_bytes <= 0) resolved.kv_cache_bytes = kDefaultKvBytes;
  return resolved;
}

// Whether anybody drafts, and why not.
std::string SpeculationOf(const Model& model, const EngineOptions& options,
                          const Drafter* drafter) {
  if (drafter != nullptr) return "on";
  if (options.draft_length <= 0) return "off: the draft length is 0";
  if (options.drafters == DrafterChoice::kNone) return "off: no drafter was asked for";
  return model.drafts() ? "off" : "off: the model has no draft layer";
}

}  // namespace

// The stages' buffers and the live sequences.
struct Engine::Impl {
  Impl(const Model& m, const EngineOptions& o)
      : model(m),
        options(Resolved(o)),
        pool(m.architecture().text().cache, KvTypeOf(m.precision()), options.kv_block_tokens,
             options.kv_cache_bytes),
        drafter(MakeDrafter(m, options, pool, counters)),
        vision_workspace(m.vision() ? m.vision()->MakeWorkspace() : nullptr),
        prefill(m, pool),
        rounds(m, options, pool, drafter.get(), lengths, counters) {
    const auto drafts = static_cast<size_t>(drafter ? options.draft_length : 0);
    counters.Update([&](EngineStats& stats) {
      stats.drafted_at.assign(drafts, 0);
      stats.examined_at.assign(drafts, 0);
      stats.accepted_at.assign(drafts, 0);
      stats.speculation = SpeculationOf(model, options, drafter.get());
    });
  }

  void CheckFits(const Sequence& s) const;
  void BeginPrefill(Sequence& s) const;
  void DecideFirst(Sequence& s, const SampledToken& first) const;
  bool WarmUpNow() const;

  const Model& model;
  const EngineOptions options;
  KvPool pool;
  EngineCounters counters;
  std::unique_ptr<Drafter> drafter;  // nullptr: plain decoding
  std::atomic<uint64_t> last_id = 0;
  AnswerLengths lengths;

  std::unique_ptr<Workspace> vision_workspace;  // nullptr: text only
  Mat vision_out;

  PrefillPass prefill;
  DecodeRounds rounds;
};

Engine::Engine(const Model& model, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}

Engine::~Engine() = default;

// ------------------------------------------------------------------------------------- prepare

std::unique_ptr<Sequence> Engine::Prepare(Request request) const {
  const Architecture& architecture = impl_->model.architecture();
  CheckSamplingOptions(request.sampling);
  CheckStopStrings(request.stop_strings);
  auto s = std::make_unique<Sequence>();
  s->id = static_cast<SequenceId>(++impl_->last_id);
  std::vector<PatchGrid> grids;
  int image_tokens = 0;
  for (const PreparedImage& image : request.images) {
    grids.push_back(image.grid);
    image_tokens += image.grid.num_image_tokens();
  }
  s->request = std::move(request);
  s->prompt = PromptOf(impl_->model, s->request, grids);
  s->max_new_tokens =
      s->request.max_new_tokens > 0 ? s->request.max_new_tokens : DefaultTokenLimit(image_tokens);
  if (!s->request.ignore_stop) {
    s->stop = s->request.stop.empty() ? architecture.tokens().stop : s->request.stop;
  }
  const Tokenizer& tokenizer = impl_->model.tokenizer();
  s->known_ids = static_cast<int>(tokenizer.num_base_tokens() + tokenizer.num_added_tokens());
  s->result.prompt_tokens = static_cast<int>(s->prompt_len());
  s->result.image_tokens = image_tokens;
  s->Restart();
  impl_->CheckFits(*s);
  return s;
}

void Engine::Impl::CheckFits(const Sequence& s) const {
  const int64_t worst = s.worst_case_rows();
  const int64_t positions = model.architecture().text().max_positions;
  if (worst > positions) {
    const bool text_only = s.result.image_tokens == 0;
    throw Error(ErrorKind::kInput, {},
                std::string(text_only ? "the request" : "the region") + " needs " +
                    std::to_string(worst) +
                    " positions (prompt and longest answer), the model has " +
                    std::to_string(positions) + "; lower --max-new-tokens or " +
                    (text_only ? "shorten the prompt" : "read smaller regions"),
                FailureCode::kTooLarge);
  }
  if (pool.BlocksFor(worst) > pool.total_blocks()) {
    throw Error(
        ErrorKind::kInput, {},
        "the region needs room for " + std::to_string(worst) + " tokens, the KV cache holds " +
            std::to_string(pool.total_blocks() * pool.block_tokens()) + "; raise --kv-cache-mib",
        FailureCode::kTooLarge);
  }
}

// ------------------------------------------------------------------------------------- vision

void Engine::EncodeImages(std::span<Sequence* const> sequences) {
  std::vector<const PreparedImage*> images;
  int64_t tokens = 0;
  for (const Sequence* s : sequences) {
    for (const PreparedImage& image : s->request.images) {
      images.push_back(&image);
      tokens += image.grid.num_image_tokens();
    }
  }
  if (images.empty()) return;
  const int64_t width = impl_->model.architecture().text().hidden_size;
  MatView out = impl_->vision_out.Shaped(tokens, width);
  impl_->model.vision()->Encode(images, *impl_->vision_workspace, out,
                                impl_->options.instruments.observer);
  int64_t row = 0;
  for (Sequence* s : sequences) {
    const int64_t n = s->result.image_tokens;
    MatView own = s->image_embeddings.Shaped(n, width);
    std::copy_n(out.Rows(row, n).data, n * width, own.data);
    row += n;
  }
}

// ------------------------------------------------------------------------------------- prefill

bool Engine::TryReserve(Sequence& s) {
  KvPool& pool = impl_->pool;
  const int64_t expected =
      s.prompt_len() + impl_->lengths.Expected(s.request.length_class, s.result.image_tokens);
  // Never so little that a preempted sequence would come and go without deciding anything.
  const int64_t least = s.num_prefill_rows() + pool.block_tokens();
  const int64_t rows = std::min(std::max(expected, least), s.worst_case_rows());
  const int64_t blocks = pool.BlocksFor(rows);
  const int64_t free = pool.free_blocks();
  s.blocks.reserve(static_cast<size_t>(pool.BlocksFor(s.worst_case_rows())));
  if (free < pool.total_blocks() && free - blocks < pool.total_blocks() / kKeptFree) return false;
  return pool.Take(blocks, s.blocks);
}

void Engine::Impl::BeginPrefill(Sequence& s) const {
  assert(!s.blocks.empty());
  if (s.finished) s.Restart();
  s.cache_len = 0;
  s.ReserveTokens();
}

void Engine::Impl::DecideFirst(Sequence& s, const SampledToken& first) const {
  if (first.index < 0) {
    s.Fail("the model's logits are not finite at the prompt");
  } else {
    if (s.Decide(first.index, first.probability)) EndIfItMust(model.tokenizer(), s);
  }
}

bool Engine::Impl::WarmUpNow() const {
  switch (options.warm_up) {
    case WarmUp::kAuto:
      return rounds.drafts_pay();
    case WarmUp::kAlways:
      return true;
    case WarmUp::kLater:
      return false;
  }
  return true;
}

void Engine::Prefill(std::span<Sequence* const> sequences) {
  Impl& e = *impl_;
  for (Sequence* s : sequences) e.BeginPrefill(*s);
  e.prefill.Run(sequences, e.options.instruments.observer);
  for (size_t i = 0; i < sequences.size(); ++i) {
    Sequence& s = *sequences[i];
    s.cache_len = s.num_prefill_rows();
    if (s.num_decided() == 0) e.DecideFirst(s, e.prefill.first_token(i));
  }
  if (!e.drafter) return;
  const std::string error = Attempt(
      [&] { e.drafter->Observe(sequences, e.prefill.batch(), e.prefill.hidden(), e.WarmUpNow()); });
  if (error.empty()) return;
  for (Sequence* s : sequences) e.rounds.OnDraftFault(*s, error);
}

// ------------------------------------------------------------------------------------- decode

void Engine::Submit(std::unique_ptr<Sequence> sequence) {
  assert(sequence->cache_len == sequence->num_prefill_rows());
  impl_->rounds.Add(std::move(sequence));
}

std::vector<std::unique_ptr<Sequence>> Engine::Step() { return impl_->rounds.Step(); }

std::vector<std::unique_ptr<Sequence>> Engine::TakePreempted() {
  return impl_->rounds.TakePreempted();
}

std::unique_ptr<Sequence> Engine::Cancel(SequenceId sequence) {
  return impl_->rounds.Cancel(sequence);
}

std::vector<std::unique_ptr<Sequence>> Engine::Reset() noexcept { return impl_->rounds.Reset(); }

void Engine::Discard(Sequence& sequence) { impl_->rounds.Release(sequence); }

size_t Engine::live() const { return impl_->rounds.live(); }

EngineStats Engine::stats() const {
  EngineStats stats = impl_->counters.Copy();
  stats.kv_blocks_total = impl_->pool.total_blocks();
  stats.kv_blocks_free = impl_->pool.free_blocks();
  stats.kv_blocks_peak = impl_->pool.peak_blocks_used();
  return stats;
}

}  // namespace platen
