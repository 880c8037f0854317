#include "model/families/glm_ocr/prompt_embedding.h"

#include <algorithm>
#include <cassert>

#include "model/engine/sequence.h"
#include "model/families/model.h"

namespace platen {

void EmbedPrompt(const Model& model, const Sequence& sequence, MatView x) {
  model.decoder().Embed(sequence.prompt.input_ids, x);
  int64_t image_row = 0;
  for (int64_t i = 0; i < x.rows; ++i) {
    const TokenId id = sequence.prompt.input_ids[static_cast<size_t>(i)];
    if (id != model.config().tokens.image) continue;
    std::copy_n(sequence.image_embeddings.View().Row(image_row++), x.cols, x.Row(i));
  }
  assert(image_row == sequence.image_embeddings.rows());
}

}  // namespace platen
