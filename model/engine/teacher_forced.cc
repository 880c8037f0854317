#include "model/engine/teacher_forced.h"

#include <cassert>
#include <string>

#include "model/engine/prompt_embedding.h"
#include "model/engine/sequence.h"
#include "model/families/model.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr int kBlockTokens = 32;

}  // namespace

TeacherForcedPass::TeacherForcedPass(const Model& model)
    : model_(model), workspace_(model.text().MakeWorkspace()) {}

ConstMatView TeacherForcedPass::Hidden(const Sequence& s, std::span<const TokenId> answer) {
  assert(!answer.empty());
  // The last token is decided, never read.
  const ConstMatView all = HiddenOfAll(s, answer.first(answer.size() - 1));
  return all.Rows(s.prompt_len() - 1, static_cast<int64_t>(answer.size()));
}

ConstMatView TeacherForcedPass::HiddenOfAll(const Sequence& s, std::span<const TokenId> answer) {
  const TextSizes& sizes = model_.architecture().text();
  const auto answered = static_cast<int64_t>(answer.size());
  const int64_t rows = s.prompt_len() + answered;
  if (rows > sizes.max_positions) {
    throw Error(ErrorKind::kInput, {},
                "the answer needs " + std::to_string(rows) + " positions, the model has " +
                    std::to_string(sizes.max_positions));
  }
  const KvType type = KvTypeOf(model_.precision());
  KvPool pool(sizes.cache, type, kBlockTokens,
              (rows + kBlockTokens) * KvPool::TokenBytes(sizes.cache, type));
  BlockTable blocks;  // go with the pool
  [[maybe_unused]] const bool taken = pool.Take(pool.BlocksFor(rows), blocks);
  assert(taken);
  RowBatch batch;
  batch.AddSlice(blocks, 0, rows);
  for (int64_t i = 0; i < rows; ++i) {
    batch.PushPosition(s.RopePosition(i, 0), s.RopePosition(i, 1), s.RopePosition(i, 2));
  }
  MatView x = rows_.Shaped(rows, sizes.hidden_size);
  EmbedPrompt(model_, s, x.Rows(0, s.prompt_len()));
  model_.text().Embed(answer, x.Rows(s.prompt_len(), answered));
  model_.text().Forward(batch, pool, x, *workspace_, {});
  return x;
}

ConstMatView TeacherForcedPass::Logits(ConstMatView hidden) {
  MatView logits = logits_.Shaped(hidden.rows, model_.architecture().text().vocab_size);
  model_.text().Logits(hidden, logits, *workspace_);
  return logits;
}

}  // namespace platen
