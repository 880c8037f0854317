#include "model/engine/engine.h"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <utility>

#include "model/engine/draft_planner.h"
#include "model/engine/prompt_embedding.h"
#include "model/engine/sequence.h"
#include "model/engine/speculative.h"
#include "model/families/model.h"
#include "model/ops/parallel.h"
#include "model/support/clock.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr int64_t kDefaultKvBytes = int64_t{1} << 30;
constexpr int kMaxDraftLength = 8;

void RememberSeen(Sequence& s, TokenId id) {
  if (s.request.repetition_penalty == 1.0F) return;
  if (std::find(s.seen.begin(), s.seen.end(), id) == s.seen.end()) s.seen.push_back(id);
}

// Back to the prompt: nothing decided, nothing in the caches. Blocks and embeddings stay.
void Restart(Sequence& s) {
  s.tokens = s.prompt.input_ids;
  s.cache_len = 0;
  s.mtp_len = 0;
  s.lagging_hidden.Resize(0, 0);
  s.seen.clear();
  for (const TokenId id : s.tokens) RememberSeen(s, id);
  s.loop_guard = {};
  s.finished = false;
  s.result.tokens.clear();
  s.result.probabilities.clear();
  s.result.finish = FinishReason::kStop;
  s.result.error.clear();
}

}  // namespace

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

// The three stages' buffers and the live sequences.
struct Engine::Impl {
  Impl(const Model& m, const EngineOptions& o)
      : model(m),
        options(o),
        pool(m.architecture().text().cache, KvTypeOf(m.precision()), o.kv_block_tokens,
             o.kv_cache_bytes > 0 ? o.kv_cache_bytes : kDefaultKvBytes),
        drafter(m, pool, options),
        vision_ws(m.vision() ? m.vision()->MakeWorkspace() : nullptr),
        prefill_ws(m.text().MakeWorkspace()),
        planner(m.draft() ? std::clamp(o.draft_length, 0, kMaxDraftLength) : 0),
        verify_ws(m.text().MakeWorkspace()) {
    options.draft_length = m.draft() ? std::clamp(o.draft_length, 0, kMaxDraftLength) : 0;
    stats.drafted_at.assign(static_cast<size_t>(options.draft_length), 0);
    stats.accepted_at.assign(static_cast<size_t>(options.draft_length), 0);
  }

  // Rows the sequence may write at worst: the prompt, and the answer without its last token, which
  // is decided and never read. Drafts do not count: none is made that the limit on tokens would not
  // let stand (PlannedDrafts), and whether a request is taken must not depend on speculation.
  static int64_t WorstCaseRows(const Sequence& s) { return s.prompt_len() + s.max_new_tokens - 1; }

  void DecideFirstToken(Sequence& s, MatView logits_row);
  bool Decide(Sequence& s, TokenId token, float probability);
  void Finish(Sequence& s, FinishReason reason) const;
  void Fail(Sequence& s, const std::string& where) const;

  std::vector<Proposal> PlanRound();
  void RunRound(std::span<Proposal> proposals);
  void Verify(std::span<const Proposal> proposals);
  void Accept(const Proposal& proposal, int64_t first_row);

  const Model& model;
  EngineOptions options;
  KvPool pool;
  Drafter drafter;

  std::unique_ptr<Workspace> vision_ws;  // nullptr: text only
  Mat vision_out;

  std::unique_ptr<Workspace> prefill_ws;
  Mat prefill_x, prefill_last, prefill_logits;

  DraftPlanner planner;
  std::vector<std::unique_ptr<Sequence>> live;
  RowBatch verify_batch;
  std::unique_ptr<Workspace> verify_ws;
  Mat verify_x, verify_logits;
  std::vector<TokenId> verify_ids;
  std::vector<Selection> verify_selection;

  mutable std::mutex stats_mutex;
  EngineStats stats;  // guarded by stats_mutex
};

Engine::Engine(const Model& model, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}

Engine::~Engine() = default;

// ------------------------------------------------------------------------------------- prepare

std::unique_ptr<Sequence> Engine::Prepare(Request request) const {
  auto s = std::make_unique<Sequence>();
  std::vector<PatchGrid> grids;
  int image_tokens = 0;
  for (const PreparedImage& image : request.images) {
    grids.push_back(image.grid);
    image_tokens += image.grid.num_image_tokens();
  }
  s->request = std::move(request);
  s->prompt = impl_->model.architecture().BuildPrompt(impl_->model.tokenizer(), grids,
                                                      s->request.task_text);
  s->max_new_tokens =
      s->request.max_new_tokens > 0 ? s->request.max_new_tokens : DefaultTokenLimit(image_tokens);
  if (!s->request.ignore_stop) {
    s->stop = s->request.stop.empty() ? impl_->model.architecture().tokens().stop : s->request.stop;
  }
  s->result.prompt_tokens = static_cast<int>(s->prompt_len());
  s->result.image_tokens = image_tokens;
  Restart(*s);

  const int64_t worst = Impl::WorstCaseRows(*s);
  const int64_t positions = impl_->model.architecture().text().max_positions;
  if (worst > positions) {
    throw Error(ErrorKind::kInput, {},
                "the region needs " + std::to_string(worst) +
                    " positions (prompt and longest answer), the model has " +
                    std::to_string(positions) + "; lower --max-new-tokens or read smaller regions");
  }
  if (impl_->pool.BlocksFor(worst) > impl_->pool.total_blocks()) {
    throw Error(ErrorKind::kInput, {},
                "the region needs room for " + std::to_string(worst) +
                    " tokens, the KV cache holds " +
                    std::to_string(impl_->pool.total_blocks() * impl_->pool.block_tokens()) +
                    "; raise --kv-cache-mib");
  }
  return s;
}

// ------------------------------------------------------------------------------------- vision

void Engine::EncodeImages(std::span<Sequence* const> sequences) const {
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
  impl_->model.vision()->Encode(images, *impl_->vision_ws, out, impl_->options.observer);
  int64_t row = 0;
  for (Sequence* s : sequences) {
    const int64_t n = s->result.image_tokens;
    MatView own = s->image_embeddings.Shaped(n, width);
    std::copy_n(out.Rows(row, n).data, n * width, own.data);
    row += n;
  }
}

// ------------------------------------------------------------------------------------- prefill

bool Engine::TryReserve(Sequence& sequence) {
  return impl_->pool.Take(impl_->pool.BlocksFor(Impl::WorstCaseRows(sequence)), sequence.blocks);
}

void Engine::Prefill(std::span<Sequence* const> sequences) {
  Impl& e = *impl_;
  RowBatch batch;
  for (Sequence* s : sequences) {
    assert(!s->blocks.empty());
    Restart(*s);
    batch.AddSlice(s->blocks, 0, s->prompt_len());
    for (int64_t i = 0; i < s->prompt_len(); ++i) {
      batch.PushPosition(s->RopePosition(i, 0), s->RopePosition(i, 1), s->RopePosition(i, 2));
    }
  }
  const int64_t width = e.model.architecture().text().hidden_size;
  MatView x = e.prefill_x.Shaped(batch.num_rows(), width);
  for (size_t i = 0; i < sequences.size(); ++i) {
    EmbedPrompt(e.model, *sequences[i],
                x.Rows(batch.slices[i].first_row, batch.slices[i].num_rows));
  }
  e.model.text().Forward(batch, e.pool, x, *e.prefill_ws, e.options.observer);
  const ConstMatView hidden = x;

  // The head runs over the last row of each prompt only.
  const auto count = static_cast<int64_t>(sequences.size());
  MatView last = e.prefill_last.Shaped(count, width);
  for (int64_t i = 0; i < count; ++i) {
    const RowSlice& slice = batch.slices[static_cast<size_t>(i)];
    std::copy_n(hidden.Row(slice.first_row + slice.num_rows - 1), width, last.Row(i));
  }
  MatView logits = e.prefill_logits.Shaped(count, e.model.architecture().text().vocab_size);
  e.model.text().Logits(last, logits, *e.prefill_ws);
  if (e.options.observer) e.options.observer("logits_last", logits);
  for (int64_t i = 0; i < count; ++i) {
    e.DecideFirstToken(*sequences[static_cast<size_t>(i)], logits.Rows(i, 1));
  }
  e.drafter.WarmUp(sequences, batch, hidden);
}

void Engine::Impl::DecideFirstToken(Sequence& s, MatView logits_row) {
  s.cache_len = s.prompt_len();
  const Selection first = SelectToken(model.kernels(), s, {}, logits_row);
  if (first.index < 0) {
    Fail(s, "the prompt");
  } else {
    Decide(s, first.index, first.probability);
  }
}

// ------------------------------------------------------------------------------------- decode

void Engine::Submit(std::unique_ptr<Sequence> sequence) {
  assert(sequence->cache_len == sequence->prompt_len());
  try {
    impl_->live.push_back(std::move(sequence));
  } catch (...) {  // no memory: the sequence is still ours, and dropped
    Discard(*sequence);
    throw;
  }
}

std::vector<std::unique_ptr<Sequence>> Engine::Step() {
  Impl& e = *impl_;
  std::vector<std::unique_ptr<Sequence>> finished;
  finished.reserve(e.live.size());
  std::vector<Proposal> proposals = e.PlanRound();
  if (!proposals.empty()) e.RunRound(proposals);
  // Nothing throws from here on, so that no sequence is lost on its way out.
  for (auto& s : e.live) {
    if (!s->finished) continue;
    e.pool.Release(s->blocks);
    finished.push_back(std::move(s));
  }
  std::erase(e.live, nullptr);
  return finished;
}

// A round that was broken off leaves lengths and tokens of its sequences anyhow, but each is still
// in `live` with all its blocks.
std::vector<std::unique_ptr<Sequence>> Engine::Abandon() noexcept {
  for (const auto& s : impl_->live) impl_->pool.Release(s->blocks);
  return std::exchange(impl_->live, {});
}

std::vector<Proposal> Engine::Impl::PlanRound() {
  std::vector<Proposal> proposals;
  for (const auto& s : live) {
    if (!s->finished) proposals.push_back({s.get(), drafter.PlannedDrafts(*s), {}});
  }
  if (proposals.empty() || !options.adaptive_drafts) return proposals;
  const auto count = static_cast<int64_t>(proposals.size());
  const int drafts = planner.Choose(count);
  const int64_t probe = drafts == 0 ? planner.Probe(count) : -1;
  for (int64_t i = 0; i < count; ++i) {
    int& planned = proposals[static_cast<size_t>(i)].planned;
    if (i != probe) planned = std::min(planned, drafts);
  }
  return proposals;
}

// Draft and verify, timed for the planner.
void Engine::Impl::RunRound(std::span<Proposal> proposals) {
  RoundCosts costs;
  const int64_t start_ns = MonotonicNs();
  drafter.Draft(proposals);
  costs.draft_seconds = SecondsSince(start_ns);
  const int64_t drafted_ns = MonotonicNs();
  Verify(proposals);
  costs.verify_seconds = SecondsSince(drafted_ns);
  costs.verify_rows = verify_batch.num_rows();
  for (const Proposal& p : proposals) {
    const auto drafts = static_cast<int>(p.drafts.size());
    costs.draft_sequences += drafts > 0 ? 1 : 0;
    costs.draft_steps = std::max(costs.draft_steps, drafts);
  }
  planner.AddCosts(costs);
}

// One target pass over the anchors and drafts of all sequences.
void Engine::Impl::Verify(std::span<const Proposal> proposals) {
  verify_batch.Clear();
  verify_ids.clear();
  for (const Proposal& p : proposals) {
    const Sequence& s = *p.sequence;
    const auto width = static_cast<int64_t>(p.drafts.size()) + 1;
    verify_batch.AddSlice(s.blocks, s.cache_len, width);
    verify_ids.push_back(s.tokens.back());
    verify_ids.insert(verify_ids.end(), p.drafts.begin(), p.drafts.end());
    for (int64_t row = s.cache_len; row < s.cache_len + width; ++row) {
      verify_batch.PushPosition(s.RopePosition(row, 0), s.RopePosition(row, 1),
                                s.RopePosition(row, 2));
    }
  }
  const int64_t rows = verify_batch.num_rows();
  const TextSizes& sizes = model.architecture().text();
  MatView x = verify_x.Shaped(rows, sizes.hidden_size);
  model.text().Embed(verify_ids, x);
  model.text().Forward(verify_batch, pool, x, *verify_ws, {});
  MatView logits = verify_logits.Shaped(rows, sizes.vocab_size);
  model.text().Logits(x, logits, *verify_ws);

  verify_selection.resize(static_cast<size_t>(rows));
  ParallelFor(static_cast<int64_t>(proposals.size()), [&](int64_t i) {
    const Proposal& p = proposals[static_cast<size_t>(i)];
    const RowSlice& slice = verify_batch.slices[static_cast<size_t>(i)];
    for (int64_t j = 0; j < slice.num_rows; ++j) {
      verify_selection[static_cast<size_t>(slice.first_row + j)] = SelectToken(
          model.kernels(), *p.sequence, std::span(p.drafts).first(static_cast<size_t>(j)),
          logits.Rows(slice.first_row + j, 1));
    }
  });
  const std::lock_guard lock(stats_mutex);
  ++stats.steps;
  stats.rows += rows;
  for (size_t i = 0; i < proposals.size(); ++i) {
    Accept(proposals[i], verify_batch.slices[i].first_row);
  }
}

// Keeps the longest prefix of drafts the target agrees with, and the target's own next token.
void Engine::Impl::Accept(const Proposal& p, int64_t first_row) {
  Sequence& s = *p.sequence;
  const Selection* rows = verify_selection.data() + first_row;
  const size_t width = p.drafts.size() + 1;
  size_t accepted = 0;
  while (accepted < p.drafts.size() && p.drafts[accepted] == rows[accepted].index) ++accepted;

  planner.AddAcceptance(static_cast<int>(p.drafts.size()), static_cast<int>(accepted));
  ++stats.rounds;
  for (size_t j = 0; j < p.drafts.size(); ++j) {
    ++stats.drafted_at[j];
    if (j < accepted) ++stats.accepted_at[j];
  }
  Round round;
  if (options.on_round) {
    round = {&s,       s.cache_len, s.cache_len + s.prompt.rope_delta, s.tokens.back(),
             p.drafts, {},          static_cast<int>(accepted),        {}};
    for (size_t j = 0; j < width; ++j) round.target_argmax.push_back(rows[j].index);
  }
  for (size_t j = 0; j <= accepted; ++j) {
    if (rows[j].index < 0) {
      Fail(s, "token " + std::to_string(s.num_decided()));
      return;
    }
    ++stats.decoded_tokens;
    round.emitted.push_back(rows[j].index);
    if (!Decide(s, rows[j].index, rows[j].probability)) break;
  }
  if (options.on_round) options.on_round(round);
  if (s.finished) return;
  drafter.KeepHidden(s, verify_x.View().Rows(first_row, static_cast<int64_t>(accepted) + 1));
  s.cache_len += static_cast<int64_t>(accepted) + 1;
#ifndef NDEBUG
  CheckInvariants(s, pool);
#endif
}

// Appends one decided token; false if the sequence is finished with it.
bool Engine::Impl::Decide(Sequence& s, TokenId token, float probability) {
  s.tokens.push_back(token);
  RememberSeen(s, token);
  if (s.IsStop(token)) {
    Finish(s, FinishReason::kStop);
    return false;
  }
  s.result.tokens.push_back(token);
  s.result.probabilities.push_back(probability);
  if (s.num_decided() >= s.max_new_tokens) {
    Finish(s, FinishReason::kLength);
  } else if (!s.request.ignore_stop && s.loop_guard.Push(s.result.tokens)) {
    Finish(s, FinishReason::kRepetition);
  }
  return !s.finished;
}

void Engine::Impl::Finish(Sequence& s, FinishReason reason) const {
  s.finished = true;
  s.result.finish = reason;
}

void Engine::Impl::Fail(Sequence& s, const std::string& where) const {
  Finish(s, FinishReason::kFailed);
  s.result.error = "the model's logits are not finite at " + where;
}

void Engine::Discard(Sequence& sequence) { impl_->pool.Release(sequence.blocks); }

size_t Engine::live() const { return impl_->live.size(); }

EngineStats Engine::stats() const {
  EngineStats stats;
  {
    const std::lock_guard lock(impl_->stats_mutex);
    stats = impl_->stats;
  }
  stats.kv_blocks_total = impl_->pool.total_blocks();
  stats.kv_blocks_free = impl_->pool.free_blocks();
  stats.kv_blocks_peak = impl_->pool.peak_blocks_used();
  return stats;
}

}  // namespace platen
