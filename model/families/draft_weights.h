// A draft layer or draft heads from a file of their own, in place of the snapshot's.
#pragma once

#include <optional>
#include <string>

#include "model/checkpoint/checkpoint.h"
#include "model/families/architecture.h"
#include "model/families/residual_heads.h"

namespace platen {

// What a file of draft weights says of itself (safetensors' "__metadata__"). All of it may be
// missing: the layer of a snapshot in a file of its own says nothing.
struct DraftFileFacts {
  // Keys of the metadata.
  static constexpr const char* kBaseModel = "platen.base_model";  // WeightsHash of the target
  static constexpr const char* kConvention = "platen.mtp_convention";
  static constexpr const char* kNormEps = "platen.norm_eps";       // of residual heads
  static constexpr const char* kActivation = "platen.activation";  // "silu", "relu2"; likewise

  std::string base_model;
  std::string convention;  // "default", ...: what the layer was trained to be run with
};
DraftFileFacts FactsOf(const Checkpoint& draft_file);

// The residual heads that a file holds: where they say how they are computed, or where the model
// has no heads of its own, whose place they could take as they are. Nothing: it holds weights of
// the model's own layer or heads. Throws Error(kModel) naming file and tensor.
std::optional<ResidualHeadsConfig> HeadsIn(const Checkpoint& file, const std::string& path,
                                           int64_t hidden_size, bool has_own_heads);

// Sets what the model drafts with from a safetensors file:
// - the tensors of its own draft layer or heads, under the snapshot's names, and nothing else; or
// - residual heads mtp_layers.K.{norm,gate_proj,up_proj,down_proj}.weight, which any decoder can
//   have: they take the place of the layer. Their norm's epsilon stands in the metadata.
// Drafts can change the speed of decoding, never a token. Throws Error(kModel) naming file and
// tensor: a tensor is missing, unknown, of another shape, or not finite; the model has no draft
// layer. The checkpoint that is returned must outlive the parts, and so must `kernels`.
Checkpoint LoadDraftWeights(const std::string& path, Precision precision, int64_t hidden_size,
                            const KernelTable& kernels, ModelParts& parts);
// The same from a file that is open.
void LoadDraftWeights(const Checkpoint& checkpoint, const std::string& path, Precision precision,
                      int64_t hidden_size, const KernelTable& kernels, ModelParts& parts);

}  // namespace platen
