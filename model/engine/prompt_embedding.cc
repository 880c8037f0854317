#include "model/engine/prompt_embedding.h"

#include <algorithm>
#include <cassert>

#include "model/engine/request.h"
#include "model/engine/sequence.h"
#include "model/families/model.h"

namespace platen {

void EmbedPrompt(const Model& model, const Sequence& sequence, MatView x) {
  const PromptInput& prompt = sequence.prompt;
  model.text().Embed(std::span(sequence.tokens).first(static_cast<size_t>(x.rows)), x);
  assert(static_cast<int64_t>(prompt.image_rows.size()) == sequence.image_embeddings.rows());
  for (size_t i = 0; i < prompt.image_rows.size(); ++i) {
    std::copy_n(sequence.image_embeddings.View().Row(static_cast<int64_t>(i)), x.cols,
                x.Row(prompt.image_rows[i]));
  }
}

PromptInput PromptOf(const Model& model, const Request& request, std::span<const PatchGrid> grids) {
  const Architecture& architecture = model.architecture();
  if (request.messages.empty()) {
    return architecture.BuildPrompt(model.tokenizer(), grids, request.task_text);
  }
  return architecture.BuildChat(model.tokenizer(), request.messages);
}

}  // namespace platen
