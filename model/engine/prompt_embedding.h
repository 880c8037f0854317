// The decoder's input for the rows that a prefill puts into the cache: of the embedding table, and
// of the images at their places.
#pragma once

#include <span>

#include "model/families/prompt.h"
#include "model/ops/tensor.h"

namespace platen {

class Model;
struct Request;
struct Sequence;

// x [R, D]: the first R rows of the sequence, at least the prompt's. Its images are encoded
// (Engine::EncodeImages).
void EmbedPrompt(const Model& model, const Sequence& sequence, MatView x);

// The input rows of a request whose images have these grids. Throws as Architecture::BuildPrompt
// and BuildChat do.
PromptInput PromptOf(const Model& model, const Request& request, std::span<const PatchGrid> grids);

}  // namespace platen
