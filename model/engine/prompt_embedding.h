// The decoder's input for a prompt: rows of the embedding table, and of the images at their places.
#pragma once

#include "model/ops/tensor.h"

namespace platen {

class Model;
struct Sequence;

// x [prompt rows, D]. The images of the sequence are encoded (Engine::EncodeImages).
void EmbedPrompt(const Model& model, const Sequence& sequence, MatView x);

}  // namespace platen
