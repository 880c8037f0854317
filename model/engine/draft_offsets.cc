#include "model/engine/draft_offsets.h"

#include <algorithm>
#include <memory>

#include "model/support/error.h"

namespace platen {
namespace {

constexpr int kBlockTokens = 16;

// Hidden vectors [tokens, D] of a text, from a cache of its own.
Mat HiddenOf(const Model& model, const std::vector<TokenId>& tokens, Workspace& workspace) {
  const TextSizes& sizes = model.architecture().text();
  const auto rows = static_cast<int64_t>(tokens.size());
  const KvType type = KvTypeOf(model.precision());
  const int64_t blocks = rows / kBlockTokens + 1;
  KvPool pool(sizes.cache, type, kBlockTokens,
              blocks * kBlockTokens * KvPool::TokenBytes(sizes.cache, type));
  BlockTable table;
  pool.Take(pool.BlocksFor(rows), table);
  RowBatch batch;
  batch.AddSlice(table, 0, rows);
  for (int32_t i = 0; i < rows; ++i) batch.PushPosition(i, i, i);
  Mat x(rows, sizes.hidden_size);
  model.text().Embed(tokens, x.View());
  model.text().Forward(batch, pool, x.View(), workspace, {});
  return x;
}

TokenId Best(const float* logits, int vocab) {
  return static_cast<TokenId>(std::max_element(logits, logits + vocab) - logits);
}

}  // namespace

int HeadOffsets::best() const {
  return static_cast<int>(std::ranges::max_element(right) - right.begin()) + 1;
}

std::vector<HeadOffsets> ScanDraftOffsets(const Model& model,
                                          std::span<const std::vector<TokenId>> texts) {
  const DraftHeads* heads = model.draft_heads();
  if (heads == nullptr) throw Error(ErrorKind::kUsage, {}, "this model has no draft heads");
  const int vocab = model.architecture().text().vocab_size;
  const auto text_workspace = model.text().MakeWorkspace();
  const auto head_workspace = heads->MakeWorkspace();
  std::vector<HeadOffsets> offsets(static_cast<size_t>(heads->count()));
  Mat logits(1, vocab);
  for (const std::vector<TokenId>& tokens : texts) {
    const int64_t rows = std::ssize(tokens) - kMostDraftOffset;
    if (rows <= 0) continue;
    Mat hidden = HiddenOf(model, tokens, *text_workspace);
    for (int k = 0; k < heads->count(); ++k) {
      heads->Apply(k, hidden.View(), *head_workspace);
      HeadOffsets& head = offsets[static_cast<size_t>(k)];
      head.rows += rows;
      for (int64_t i = 0; i < rows; ++i) {
        model.text().Logits(hidden.View().Rows(i, 1), logits.View(), *text_workspace);
        const TokenId guess = Best(logits.data(), vocab);
        for (int j = 1; j <= kMostDraftOffset; ++j) {
          head.right[static_cast<size_t>(j - 1)] += tokens[static_cast<size_t>(i + j)] == guess;
        }
      }
    }
  }
  return offsets;
}

}  // namespace platen
