#include "model/families/glm_ocr/linears.h"

#include <cassert>

#include "model/families/glm_ocr/product_names.h"
#include "model/families/model.h"

namespace platen {
namespace {

using Linears = std::vector<const Linear*>;

void AddVision(const VisionWeights& w, Linears& all) {
  all.push_back(&w.patch_embed);
  for (const VisionBlockWeights& block : w.blocks) {
    all.insert(all.end(), {&block.qkv, &block.proj, &block.gate_up, &block.down});
  }
  all.insert(all.end(), {&w.downsample, &w.merger_proj, &w.merger_gate_up, &w.merger_down});
}

void AddLayer(const DecoderLayerWeights& w, Linears& all) {
  all.insert(all.end(), {&w.qkv, &w.o_proj, &w.gate_up, &w.down});
}

void AddText(const TextWeights& w, Linears& all) {
  for (const DecoderLayerWeights& layer : w.layers) AddLayer(layer, all);
  all.push_back(&w.lm_head);
  if (!w.mtp) return;
  all.push_back(&w.mtp->eh_proj);
  AddLayer(w.mtp->layer, all);
}

}  // namespace

std::vector<NamedLinear> ListLinears(const Model& model) {
  Linears linears;
  AddVision(model.vision_weights(), linears);
  AddText(model.text_weights(), linears);
  const std::vector<std::string> names = ProductNames(model.config());
  assert(names.size() == linears.size());
  std::vector<NamedLinear> named;
  for (size_t i = 0; i < names.size(); ++i) named.push_back({names[i], linears[i]});
  return named;
}

int64_t PackedWeightBytes(const Model& model) {
  int64_t bytes = 0;
  for (const NamedLinear& entry : ListLinears(model)) {
    bytes += static_cast<int64_t>(entry.linear->bytes());
  }
  return bytes;
}

}  // namespace platen
