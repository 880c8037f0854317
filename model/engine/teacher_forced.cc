#include "model/engine/teacher_forced.h"

#include <cassert>
#include <string>

#include "model/engine/sequence.h"
#include "model/families/glm_ocr/prompt_embedding.h"
#include "model/families/model.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr int kBlockTokens = 32;

}  // namespace

ConstMatView TeacherForcedPass::Hidden(const Sequence& s, std::span<const TokenId> answer) {
  assert(!answer.empty());
  const TextConfig& config = model_.config().text;
  const auto decided = static_cast<int64_t>(answer.size());
  const int64_t rows = s.prompt_len() + decided - 1;  // the last token is decided, never read
  if (rows > config.max_positions) {
    throw Error(ErrorKind::kInput, {},
                "the answer needs " + std::to_string(rows) + " positions, the model has " +
                    std::to_string(config.max_positions));
  }
  const KvType type = KvTypeOf(model_.precision());
  KvPool pool(config, type, kBlockTokens, (rows + kBlockTokens) * KvPool::TokenBytes(config, type));
  BlockTable blocks;  // go with the pool
  [[maybe_unused]] const bool taken = pool.Take(pool.BlocksFor(rows), blocks);
  assert(taken);
  RowBatch batch;
  batch.AddSlice(blocks, 0, rows);
  for (int64_t i = 0; i < rows; ++i) {
    batch.PushPosition(s.RopePosition(i, 0), s.RopePosition(i, 1), s.RopePosition(i, 2));
  }
  MatView x = rows_.Shaped(rows, config.hidden_size);
  EmbedPrompt(model_, s, x.Rows(0, s.prompt_len()));
  model_.decoder().Embed(answer.first(answer.size() - 1), x.Rows(s.prompt_len(), decided - 1));
  model_.decoder().Forward(batch, pool, x, workspace_);
  MatView hidden = x.Rows(s.prompt_len() - 1, decided);
  model_.decoder().FinalNorm(hidden, hidden);
  return hidden;
}

ConstMatView TeacherForcedPass::Logits(ConstMatView hidden) {
  MatView logits = logits_.Shaped(hidden.rows, model_.config().text.vocab_size);
  model_.decoder().Logits(hidden, logits, workspace_.linear);
  return logits;
}

}  // namespace platen
