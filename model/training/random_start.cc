#include "model/training/random_start.h"

#include <algorithm>
#include <cmath>

#include "model/engine/random_stream.h"

namespace platen {

void Randomise(uint64_t seed, Parameters<float>& parameters) {
  const DraftShape& shape = parameters.shape();
  for (size_t t = 0; t < shape.tensors.size(); ++t) {
    const DraftTensor& tensor = shape.tensors[t];
    const bool adds_nothing =
        std::any_of(shape.heads.begin(), shape.heads.end(),
                    [&](const ResidualHeadShape& head) { return head.mlp.down.tensor == t; });
    NoiseAt noise(seed, static_cast<int64_t>(t), Noise::kPlain);
    const float width = std::sqrt(3.0F / static_cast<float>(tensor.columns()));
    uint32_t index = 0;
    for (float& value : parameters.values(t)) {
      value = !tensor.is_matrix() ? (tensor.name.ends_with("norm.weight") ? 1.0F : 0.0F)
              : adds_nothing      ? 0.0F
                                  : width * static_cast<float>(2 * noise.Uniform(index++) - 1);
    }
  }
}

}  // namespace platen
