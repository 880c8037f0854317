#include "model/training/engine_draft.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

#include "model/checkpoint/weight_source.h"
#include "model/families/draft_weights.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr int kBlockTokens = 16;
constexpr int64_t kRowsAtOnce = 256;  // chains that go on together

// The planes of the target hold nothing here; their numbers stay.
CacheShape DraftPlanes(const TextSizes& sizes) {
  CacheShape shape = sizes.cache;
  for (int plane = 0; plane < sizes.num_target_planes; ++plane) {
    shape.planes[static_cast<size_t>(plane)] = {};
  }
  return shape;
}

// The rows of `from`; `to` may have more.
void CopyRows(ConstView<float> from, View<float> to) {
  for (int64_t r = 0; r < from.rows; ++r) std::copy_n(from.Row(r), from.cols, to.Row(r));
}

bool NeededToDraft(const Module& module) {
  return module.rows_of == RowsOf::kLogits || std::holds_alternative<Table*>(module.member);
}

}  // namespace

std::map<std::string, std::string> MetadataOf(const DraftShape& shape) {
  if (shape.heads.empty()) return {};
  const bool silu = shape.heads.front().mlp.activation == Activation::kSilu;
  char eps[32];
  std::snprintf(eps, sizeof(eps), "%.9g", shape.norm_eps);
  return {{DraftFileFacts::kNormEps, eps}, {DraftFileFacts::kActivation, silu ? "silu" : "relu2"}};
}

Checkpoint AsCheckpoint(const Parameters<float>& parameters) {
  std::vector<StoredTensor> tensors;
  for (size_t t = 0; t < parameters.shape().tensors.size(); ++t) {
    const DraftTensor& tensor = parameters.shape().tensors[t];
    tensors.push_back({.name = tensor.name,
                       .dtype = DType::kF32,
                       .shape = tensor.shape,
                       .bytes = std::as_bytes(parameters.values(t)),
                       .file = "weights under training",
                       .file_offset = 0});
  }
  return Checkpoint::OfTensors(std::move(tensors), MetadataOf(parameters.shape()));
}

EngineDraft::EngineDraft(const Snapshot& snapshot, const DraftShape& shape,
                         const KernelTable& kernels, Precision precision, ChainOn chain_on)
    : snapshot_(snapshot),
      shape_(shape),
      kernels_(kernels),
      precision_(precision),
      chain_on_(chain_on),
      parts_(snapshot.architecture->Build(kernels, VisionAttention::kF32)),
      vocab_size_(snapshot.architecture->text().vocab_size) {
  parts_.modules.SetGroupSizes(snapshot.quantization);
  ModuleTable needed;
  for (const Module& module : parts_.modules.modules()) {
    if (NeededToDraft(module)) needed.Add(module);
    if (module.rows_of == RowsOf::kLogits && module.is_linear()) {
      stored_head_ = FindTensor(snapshot.checkpoint, module.weights.front());
    }
  }
  assert(stored_head_ != nullptr);
  CheckpointSource source(precision);
  LoadModules(needed, snapshot.checkpoint, source);
  text_workspace_ = parts_.text->MakeWorkspace();
}

EngineDraft::~EngineDraft() = default;

void EngineDraft::Load(const Checkpoint& weights) {
  LoadDraftWeights(weights, "the draft weights", precision_, shape_.hidden_size, kernels_, parts_);
  MakeWorkspaces();
}

void EngineDraft::MakeWorkspaces() {
  if (parts_.heads) heads_workspace_ = parts_.heads->MakeWorkspace();
  if (parts_.draft) layer_workspace_ = parts_.draft->MakeWorkspace();
}

void EngineDraft::LoadOwn() {
  ModuleTable layer;
  for (const Module& module : parts_.modules.modules()) {
    if (module.rows_of == RowsOf::kDraft) layer.Add(module);
  }
  CheckpointSource source(precision_);
  LoadModules(layer, snapshot_.checkpoint, source);
  MakeWorkspaces();
}

void EngineDraft::Load(const Parameters<float>& parameters) { Load(AsCheckpoint(parameters)); }

Matrix<float> EngineDraft::Embed(std::span<const TokenId> ids) const {
  Matrix<float> rows(static_cast<int64_t>(ids.size()), shape_.hidden_size);
  parts_.text->Embed(ids, rows);
  return rows;
}

void EngineDraft::Logits(ConstView<float> x, View<float> logits) {
  parts_.text->Logits(x, logits, *text_workspace_);
}

void EngineDraft::HeadVectors(const TrainingPage& page, int steps,
                              std::vector<Matrix<float>>& vectors) {
  Matrix<float> g = Converted<float>(
      page.hidden.View().Rows(page.prompt - 1, RowsOfStep(page.prompt, page.length(), 0)));
  for (int k = 0; k < steps; ++k) {
    const int64_t rows = RowsOfStep(page.prompt, page.length(), k);
    parts_.heads->Apply(k, g.View().Rows(0, rows), *heads_workspace_);
    vectors.push_back(Converted<float>(g.View().Rows(0, rows)));
  }
}

// Kept from page to page, because memory that is new costs more than what is done in it.
KvPool& EngineDraft::PoolOf(int64_t blocks) {
  if (pool_ == nullptr || pool_->total_blocks() < blocks) {
    const CacheShape planes = DraftPlanes(snapshot_.architecture->text());
    const KvType type = KvTypeOf(precision_);
    pool_.reset();
    pool_ = std::make_unique<KvPool>(planes, type, kBlockTokens,
                                     blocks * kBlockTokens * KvPool::TokenBytes(planes, type));
  }
  return *pool_;
}

// The draft layer on one page: the first step of all slots, then chains from some of them at a
// time. A chain sees the blocks that the first step filled up to its slot: whole ones are shared,
// the one in which it goes on is a copy of its own.
struct EngineDraft::Chain {
  Chain(EngineDraft& of, const TrainingPage& training_page, int number_of_steps)
      : draft(of),
        page(training_page),
        steps(number_of_steps),
        embeddings(of.Embed(page.ids)),
        pool(of.PoolOf(BlocksNeeded())) {}
  ~Chain() { pool.Release(blocks); }

  int64_t BlocksOfChain() const { return 1 + (steps + kBlockTokens - 1) / kBlockTokens; }
  int64_t BlocksNeeded() const {
    const int64_t chains = std::min(kRowsAtOnce, page.length()) * BlocksOfChain();
    return page.length() / kBlockTokens + 1 + chains;
  }

  void PushPosition(int64_t token, RowBatch& batch) const {
    const auto i = static_cast<size_t>(token);
    batch.PushPosition(page.positions[0][i], page.positions[1][i], page.positions[2][i]);
  }

  // Step 0 of slots 0 .. slots - 1, some at a time; of those before `wanted` only what later rows
  // see of them. Calls visit(first) behind each part from there on; its rows are in the workspace.
  template <typename Visit>
  void First(int64_t wanted, int64_t slots, const Visit& visit) {
    [[maybe_unused]] const bool taken = pool.Take(pool.BlocksFor(slots), blocks);
    assert(taken);
    for (int64_t first = 0; first < slots;) {
      const bool seen_alone = first < wanted;
      const int64_t count = std::min(draft.rows_of_block_, (seen_alone ? wanted : slots) - first);
      RowBatch batch;
      batch.AddSlice(blocks, first, count);
      for (int64_t i = first; i < first + count; ++i) PushPosition(i, batch);
      const ConstMatView embedded = embeddings.View().Rows(first + 1, count);
      const ConstMatView hidden = page.hidden.View().Rows(first, count);
      if (seen_alone) {
        draft.parts_.draft->FillCache(embedded, hidden, batch, pool, *draft.layer_workspace_);
      } else {
        draft.parts_.draft->Forward(embedded, hidden, batch, pool, *draft.layer_workspace_);
        visit(first);
      }
      first += count;
    }
  }

  const Mat& Chained() const {
    return draft.chain_on_ == ChainOn::kNormed ? draft.layer_workspace_->normed
                                               : draft.layer_workspace_->pre_norm;
  }

  // Steps 1 .. of the slots page.prompt - 1 + first ..; `chained` [count, D] is what step 0 gave.
  void Continue(int64_t first, Matrix<float> chained, std::vector<Matrix<float>>& vectors) {
    std::vector<BlockTable> tables(static_cast<size_t>(chained.rows()));
    BlockTable own;  // of all of them
    for (int64_t r = 0; r < chained.rows(); ++r) {
      StartTable(page.prompt - 1 + first + r, own, tables[static_cast<size_t>(r)]);
    }
    for (int d = 1; d < steps; ++d) {
      const int64_t rows =
          std::clamp<int64_t>(RowsOfStep(page.prompt, page.length(), d) - first, 0, chained.rows());
      if (rows == 0) break;
      RowBatch batch;
      const int64_t slot = page.prompt - 1 + first;
      for (int64_t r = 0; r < rows; ++r) {
        batch.AddSlice(tables[static_cast<size_t>(r)], slot + r + d, 1);
        PushPosition(slot + r + d, batch);
      }
      draft.parts_.draft->Forward(embeddings.View().Rows(slot + d + 1, rows),
                                  chained.View().Rows(0, rows), batch, pool,
                                  *draft.layer_workspace_);
      const ConstMatView normed = draft.layer_workspace_->normed.View();
      const ConstMatView next = Chained().View();
      for (int64_t r = 0; r < rows; ++r) {
        std::copy_n(normed.Row(r), normed.cols, vectors[static_cast<size_t>(d)].Row(first + r));
        std::copy_n(next.Row(r), next.cols, chained.Row(r));
      }
    }
    pool.Release(own);
  }

  // The blocks of a chain that begins at `slot`, whose own key is in the cache already.
  void StartTable(int64_t slot, BlockTable& own, BlockTable& table) {
    const int64_t whole = slot / kBlockTokens;
    table.assign(blocks.begin(), blocks.begin() + whole);
    const auto had = static_cast<int64_t>(own.size());
    [[maybe_unused]] const bool taken = pool.Take(had + BlocksOfChain(), own);
    assert(taken);
    pool.Copy(blocks[static_cast<size_t>(whole)], own[static_cast<size_t>(had)]);
    table.insert(table.end(), own.begin() + had, own.end());
  }

  EngineDraft& draft;
  const TrainingPage& page;
  const int steps;
  const Matrix<float> embeddings;
  KvPool& pool;
  BlockTable blocks;  // of the first step
};

Matrix<float> EngineDraft::FirstStep(const TrainingPage& page) {
  Chain chain(*this, page, 1);
  Matrix<float> all(page.length() - 1, shape_.hidden_size);
  chain.First(0, page.length() - 1, [&](int64_t first) {
    CopyRows(layer_workspace_->normed.View(), all.View().Rows(first, all.rows() - first));
  });
  return all;
}

void EngineDraft::Vectors(const TrainingPage& page, int steps,
                          std::vector<Matrix<float>>& vectors) {
  vectors.clear();
  if (parts_.heads) {
    HeadVectors(page, steps, vectors);
    return;
  }
  for (int d = 0; d < steps; ++d) {
    vectors.emplace_back(RowsOfStep(page.prompt, page.length(), d), shape_.hidden_size);
  }
  const int64_t rows = vectors.empty() ? 0 : vectors[0].rows();
  if (rows == 0) return;
  Chain chain(*this, page, steps);
  Matrix<float> chained(rows, shape_.hidden_size);
  const int64_t base = page.prompt - 1;  // the first slot that drafts
  chain.First(base, base + rows, [&](int64_t first) {
    const int64_t row = first - base;
    CopyRows(layer_workspace_->normed.View(), vectors[0].View().Rows(row, rows - row));
    CopyRows(chain.Chained().View(), chained.View().Rows(row, rows - row));
  });
  for (int64_t first = 0; first < rows && steps > 1; first += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, rows - first);
    chain.Continue(first, Converted<float>(chained.View().Rows(first, count)), vectors);
  }
}

}  // namespace platen
