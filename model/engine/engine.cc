#include "model/engine/engine.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <exception>
#include <mutex>
#include <utility>

#include "model/engine/acceptance.h"
#include "model/engine/draft_planner.h"
#include "model/engine/drafters/mtp_chain.h"
#include "model/engine/target_pass.h"
#include "model/families/model.h"
#include "model/support/clock.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr int64_t kDefaultKvBytes = int64_t{1} << 30;
constexpr int kMaxDraftLength = 8;

std::unique_ptr<Drafter> MakeDrafter(const Model& model, const EngineOptions& options,
                                     KvPool& pool) {
  const EngineInstruments& instruments = options.instruments;
  if (options.draft_length <= 0) return nullptr;
  if (instruments.make_drafter) return instruments.make_drafter(model, pool);
  if (options.drafters == DrafterChoice::kNone || model.draft() == nullptr) return nullptr;
  return std::make_unique<MtpChain>(
      model, pool,
      MtpChainOptions{instruments.mtp_convention, instruments.full_drafts, instruments.observer});
}

// Rows the sequence may write at worst: the prompt, and the answer without its last token, which
// is decided and never read. Drafts do not count: none is made that the limit on tokens would not
// let stand, and whether a request is taken must not depend on speculation.
int64_t WorstCaseRows(const Sequence& s) { return s.prompt_len() + s.max_new_tokens - 1; }

// Runs `work`; what it throws is returned as text, empty if nothing.
template <typename Work>
std::string Attempt(const Work& work) {
  try {
    work();
    return {};
  } catch (const std::exception& e) {
    return *e.what() == '\0' ? "unknown error" : e.what();
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace

// The stages' buffers and the live sequences.
struct Engine::Impl {
  Impl(const Model& m, const EngineOptions& o)
      : model(m),
        options(o),
        pool(m.architecture().text().cache, KvTypeOf(m.precision()), o.kv_block_tokens,
             o.kv_cache_bytes > 0 ? o.kv_cache_bytes : kDefaultKvBytes),
        drafter(MakeDrafter(m, o, pool)),
        vision_workspace(m.vision() ? m.vision()->MakeWorkspace() : nullptr),
        prefill(m, pool),
        planner(drafter ? std::clamp(o.draft_length, 0, kMaxDraftLength) : 0),
        verify(m, pool) {
    options.draft_length = drafter ? std::clamp(o.draft_length, 0, kMaxDraftLength) : 0;
    stats.drafted_at.assign(static_cast<size_t>(options.draft_length), 0);
    stats.accepted_at.assign(static_cast<size_t>(options.draft_length), 0);
  }

  void CheckFits(const Sequence& s) const;
  int PlannedDrafts(const Sequence& s) const;
  std::vector<Proposal> PlanRound();
  void Draft(std::span<Proposal> proposals);
  void RunRound(std::span<Proposal> proposals);
  void VerifyAlone(std::span<Proposal> proposals);
  void AcceptAll(std::span<const Proposal> proposals);
  Round Accept(const Proposal& proposal, std::span<const SampledToken> chosen, ConstMatView hidden);
  void Count(const Proposal& proposal, int accepted, int64_t decided);
  void EndDrafting(const Sequence& s) noexcept;
  void Release(Sequence& s) noexcept;

  const Model& model;
  EngineOptions options;
  KvPool pool;
  std::unique_ptr<Drafter> drafter;  // nullptr: plain decoding
  std::atomic<uint64_t> last_id = 0;

  std::unique_ptr<Workspace> vision_workspace;  // nullptr: text only
  Mat vision_out;

  PrefillPass prefill;

  DraftPlanner planner;
  std::vector<std::unique_ptr<Sequence>> live;
  VerifyPass verify;

  mutable std::mutex stats_mutex;
  EngineStats stats;  // guarded by stats_mutex
};

Engine::Engine(const Model& model, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}

Engine::~Engine() = default;

// ------------------------------------------------------------------------------------- prepare

std::unique_ptr<Sequence> Engine::Prepare(Request request) const {
  const Architecture& architecture = impl_->model.architecture();
  auto s = std::make_unique<Sequence>();
  s->id = static_cast<SequenceId>(++impl_->last_id);
  std::vector<PatchGrid> grids;
  int image_tokens = 0;
  for (const PreparedImage& image : request.images) {
    grids.push_back(image.grid);
    image_tokens += image.grid.num_image_tokens();
  }
  s->request = std::move(request);
  s->prompt = architecture.BuildPrompt(impl_->model.tokenizer(), grids, s->request.task_text);
  s->max_new_tokens =
      s->request.max_new_tokens > 0 ? s->request.max_new_tokens : DefaultTokenLimit(image_tokens);
  if (!s->request.ignore_stop) {
    s->stop = s->request.stop.empty() ? architecture.tokens().stop : s->request.stop;
  }
  s->result.prompt_tokens = static_cast<int>(s->prompt_len());
  s->result.image_tokens = image_tokens;
  s->Restart();
  impl_->CheckFits(*s);
  return s;
}

void Engine::Impl::CheckFits(const Sequence& s) const {
  const int64_t worst = WorstCaseRows(s);
  const int64_t positions = model.architecture().text().max_positions;
  if (worst > positions) {
    throw Error(ErrorKind::kInput, {},
                "the region needs " + std::to_string(worst) +
                    " positions (prompt and longest answer), the model has " +
                    std::to_string(positions) + "; lower --max-new-tokens or read smaller regions");
  }
  if (pool.BlocksFor(worst) > pool.total_blocks()) {
    throw Error(
        ErrorKind::kInput, {},
        "the region needs room for " + std::to_string(worst) + " tokens, the KV cache holds " +
            std::to_string(pool.total_blocks() * pool.block_tokens()) + "; raise --kv-cache-mib");
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

bool Engine::TryReserve(Sequence& sequence) {
  return impl_->pool.Take(impl_->pool.BlocksFor(WorstCaseRows(sequence)), sequence.blocks);
}

void Engine::Prefill(std::span<Sequence* const> sequences) {
  Impl& e = *impl_;
  for (Sequence* s : sequences) {
    assert(!s->blocks.empty());
    s->Restart();
  }
  e.prefill.Run(sequences, e.options.instruments.observer);
  for (size_t i = 0; i < sequences.size(); ++i) {
    Sequence& s = *sequences[i];
    s.cache_len = s.prompt_len();
    const SampledToken first = e.prefill.first_token(i);
    if (first.index < 0) {
      s.Fail("the model's logits are not finite at the prompt");
    } else {
      s.Decide(first.index, first.probability);
    }
  }
  if (!e.drafter) return;
  const std::string error =
      Attempt([&] { e.drafter->Observe(sequences, e.prefill.batch(), e.prefill.hidden()); });
  if (error.empty()) return;
  for (const Sequence* s : sequences) e.EndDrafting(*s);
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
    e.Release(*s);
    finished.push_back(std::move(s));
  }
  std::erase(e.live, nullptr);
  return finished;
}

std::unique_ptr<Sequence> Engine::Cancel(SequenceId sequence) {
  std::vector<std::unique_ptr<Sequence>>& live = impl_->live;
  const auto found =
      std::find_if(live.begin(), live.end(), [&](const auto& s) { return s->id == sequence; });
  if (found == live.end()) return nullptr;
  std::unique_ptr<Sequence> cancelled = std::move(*found);
  live.erase(found);
  impl_->Release(*cancelled);
  cancelled->Finish(FinishReason::kCancelled);
  return cancelled;
}

std::vector<std::unique_ptr<Sequence>> Engine::Reset() noexcept {
  for (const auto& s : impl_->live) impl_->Release(*s);
  return std::exchange(impl_->live, {});
}

void Engine::Impl::Release(Sequence& s) noexcept {
  pool.Release(s.blocks);
  if (drafter) drafter->Forget(s.id);
}

int Engine::Impl::PlannedDrafts(const Sequence& s) const {
  if (!drafter || !drafter->CanPropose(s)) return 0;
  // The round decides one token more than it accepts.
  const int64_t useful = s.max_new_tokens - s.num_decided() - 1;
  // Rows behind the anchor's that have a place in the sequence's blocks.
  const int64_t room =
      static_cast<int64_t>(s.blocks.size()) * pool.block_tokens() - s.cache_len - 1;
  assert(useful <= room);
  const int64_t most = options.instruments.full_drafts ? room : useful;
  return static_cast<int>(std::clamp<int64_t>(most, 0, options.draft_length));
}

std::vector<Proposal> Engine::Impl::PlanRound() {
  std::vector<Proposal> proposals;
  for (const auto& s : live) {
    if (!s->finished) proposals.push_back({s.get(), PlannedDrafts(*s), {}});
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

// Drafting that fails ends for these sequences; they are decoded plainly from here on.
void Engine::Impl::Draft(std::span<Proposal> proposals) {
  if (!drafter) return;
  const std::string error = Attempt([&] { drafter->Propose(proposals); });
  if (error.empty()) return;
  for (Proposal& p : proposals) {
    if (p.planned > 0) EndDrafting(*p.sequence);
    p.drafts.clear();
  }
}

void Engine::Impl::EndDrafting(const Sequence& s) noexcept {
  drafter->Forget(s.id);
  const std::lock_guard lock(stats_mutex);
  ++stats.draft_faults;
}

// Draft, verify, accept, commit; the first two timed for the planner.
void Engine::Impl::RunRound(std::span<Proposal> proposals) {
  RoundCosts costs;
  const int64_t start_ns = MonotonicNs();
  Draft(proposals);
  costs.draft_seconds = SecondsSince(start_ns);
  const int64_t drafted_ns = MonotonicNs();
  const std::string error = Attempt([&] { verify.Run(proposals); });
  if (!error.empty()) {
    VerifyAlone(proposals);
    return;
  }
  costs.verify_seconds = SecondsSince(drafted_ns);
  costs.verify_rows = verify.num_rows();
  AcceptAll(proposals);
  for (const Proposal& p : proposals) {
    const auto drafts = static_cast<int>(p.drafts.size());
    costs.draft_sequences += drafts > 0 ? 1 : 0;
    costs.draft_steps = std::max(costs.draft_steps, drafts);
  }
  planner.AddCosts(costs);
}

// After a pass over all of them failed: each once more by itself, without drafts.
void Engine::Impl::VerifyAlone(std::span<Proposal> proposals) {
  for (Proposal& p : proposals) {
    p.drafts.clear();
    const std::span<Proposal> one(&p, 1);
    const std::string error = Attempt([&] { verify.Run(one); });
    {
      const std::lock_guard lock(stats_mutex);
      ++stats.retried;
    }
    if (!error.empty()) {
      p.sequence->Fail(error);
    } else {
      AcceptAll(one);
    }
  }
}

void Engine::Impl::AcceptAll(std::span<const Proposal> proposals) {
  {
    const std::lock_guard lock(stats_mutex);
    ++stats.steps;
    stats.rows += verify.num_rows();
  }
  for (size_t i = 0; i < proposals.size(); ++i) {
    Sequence& s = *proposals[i].sequence;
    Round round;
    const std::string error =
        Attempt([&] { round = Accept(proposals[i], verify.chosen(i), verify.hidden(i)); });
    if (!error.empty()) s.Fail(error);
    const bool failed = s.finished && s.result.finish == FinishReason::kFailed;
    if (options.instruments.on_round && !failed) options.instruments.on_round(round);
  }
}

// Decides the accepted drafts and the target's own next token, and commits their rows.
Round Engine::Impl::Accept(const Proposal& p, std::span<const SampledToken> chosen,
                           ConstMatView hidden) {
  Sequence& s = *p.sequence;
  const int accepted = CountAccepted(options.acceptance, p.drafts, chosen);
  Round round;
  if (options.instruments.on_round) {
    const int64_t rope_position = s.cache_len + s.prompt.rope_delta;
    round = {s.id, s.cache_len, rope_position, s.tokens.back(), p.drafts, {}, accepted, {}};
    for (const SampledToken& token : chosen) round.target_argmax.push_back(token.index);
  }
  for (int j = 0; j <= accepted; ++j) {
    const SampledToken& token = chosen[static_cast<size_t>(j)];
    if (token.index < 0) {
      s.Fail("the model's logits are not finite at token " + std::to_string(s.num_decided()));
      break;
    }
    round.emitted.push_back(token.index);
    if (!s.Decide(token.index, token.probability)) break;
  }
  planner.AddAcceptance(static_cast<int>(p.drafts.size()), accepted);
  Count(p, accepted, static_cast<int64_t>(round.emitted.size()));
  if (s.finished) return round;
  if (drafter) {
    const ConstMatView kept = hidden.Rows(0, int64_t{accepted} + 1);
    if (!Attempt([&] { drafter->Commit(s, kept); }).empty()) EndDrafting(s);
  }
  s.cache_len += int64_t{accepted} + 1;
#ifndef NDEBUG
  CheckInvariants(s, pool);
#endif
  return round;
}

void Engine::Impl::Count(const Proposal& p, int accepted, int64_t decided) {
  const std::lock_guard lock(stats_mutex);
  ++stats.rounds;
  stats.decoded_tokens += decided;
  for (size_t j = 0; j < p.drafts.size(); ++j) {
    ++stats.drafted_at[j];
    if (static_cast<int>(j) < accepted) ++stats.accepted_at[j];
  }
}

void Engine::Discard(Sequence& sequence) { impl_->Release(sequence); }

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
