// The whole network: from the pixels it sees to what each query has found.
#pragma once

#include <memory>

#include "model/families/pp_doclayout/backbone.h"
#include "model/families/pp_doclayout/decoder.h"
#include "model/families/pp_doclayout/encoder.h"
#include "model/families/pp_doclayout/queries.h"
#include "model/support/image.h"

namespace platen::pp_doclayout {

// Memory of a pass; about 0.3 GB at the released size.
struct NetworkMemory {
  LinearWorkspace linear;
  FeatureMap image;
  BackboneMaps backbone;
  EncoderMaps encoder;
  QueryMemory queries;
  DecoderMemory decoder;
};

// Results of a pass; they lie in its memory. Q = queries.
struct NetworkResult {
  ConstMatView logits;        // [Q, labels]
  ConstMatView boxes;         // [Q, 4]: centre x, y, width, height, as shares of the page
  ConstMatView order_logits;  // [Q, Q]
};

// Immutable. Thread-safe with different memories.
class Network {
 public:
  // `weights` are folded. `kernels` outlives it.
  Network(const KernelTable& kernels, Config config, std::shared_ptr<const Weights> weights);

  // `image` has the config's size. Throws Error(kInput) if results are not finite.
  NetworkResult Run(const Image& image, NetworkMemory& memory, const ArrayObserver& observer) const;

  const Config& config() const { return config_; }
  const Encoder& encoder() const { return encoder_; }

 private:
  const KernelTable& kernels_;
  const Config config_;
  const std::shared_ptr<const Weights> weights_;
  const Encoder encoder_;
};

}  // namespace platen::pp_doclayout
