#include "model/families/pp_doclayout/module_part.h"

namespace platen::pp_doclayout {
namespace {

void Replace(std::string& text, const std::string& from, const std::string& to) {
  if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

// The name of transformers since 5.0 for a published name.
std::string NewerName(std::string name) {
  Replace(name, "self_attn.out_proj.", "self_attn.o_proj.");
  Replace(name, ".fc1.", ".mlp.fc1.");
  Replace(name, ".fc2.", ".mlp.fc2.");
  Replace(name, "model.encoder.encoder.", "model.encoder.aifi.");
  return name;
}

// The heads of encoder and decoder are one tensor, stored under either name, or two.
std::string OtherHead(std::string name) {
  if (name.starts_with("model.enc_score_head.")) {
    Replace(name, "model.enc_score_head.", "model.decoder.class_embed.");
  } else if (name.starts_with("model.decoder.class_embed.")) {
    Replace(name, "model.decoder.class_embed.", "model.enc_score_head.");
  } else {
    Replace(name, "model.decoder.bbox_embed.", "model.enc_bbox_head.");
  }
  return name;
}

}  // namespace

std::string Numbered(const std::string& name, int64_t i) { return name + "." + std::to_string(i); }

void Alias(Module& module) {
  for (std::vector<TensorSpec>* list : {&module.weights, &module.biases}) {
    for (TensorSpec& spec : *list) {
      for (const std::string& alias : {NewerName(spec.name), OtherHead(spec.name)}) {
        if (alias != spec.name) spec.aliases.push_back(alias);
      }
    }
  }
}

}  // namespace platen::pp_doclayout
