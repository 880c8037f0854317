// Hyper-parameters of a decoder with latent attention and experts: MiniLLM's own config.json, and
// those of DeepSeek-V3 and V3.2. Read from a snapshot folder and checked before use.
//
// Three forms of one architecture: they differ in defaults, in the pairing of rotary dimensions, in
// the epsilon of two norms, and in which layers have experts. Unknown keys are ignored, known ones
// that this program does not compute are refused by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/families/gated_mlp.h"
#include "model/families/glm_input/config.h"
#include "model/families/minillm/rotary_config.h"
#include "model/families/special_tokens.h"

namespace platen {
class JsonObject;
}

namespace platen::minillm {

enum class Form { kMiniLlm, kDeepSeekV3, kDeepSeekV32 };

// Which experts a token's row goes to, and with what weights; see Router.
struct RouterConfig {
  enum class Scoring { kSoftmax, kSigmoid };
  // The value of a group of experts: its largest score, or the sum of its two largest.
  enum class GroupValue { kLargest, kTwoLargest };

  int experts = 0;    // E; 0: no layer has experts
  int per_token = 0;  // K
  int groups = 1;     // of E / groups experts each
  int kept_groups = 1;
  Scoring scoring = Scoring::kSoftmax;
  GroupValue group_value = GroupValue::kLargest;
  bool correction_bias = false;  // e_score_correction_bias is added to what is compared
  bool normalise = false;        // weights are divided by their sum, at least `least_sum`
  double least_sum = 1e-9;
  double scale = 1;  // of the weights
};

// Which keys a row attends to: all, or the best of an index.
struct IndexConfig {
  enum class Kind {
    kNone,
    kMean,       // MiniLLM's: the mean over heads of q k, keys of every head
    kLightning,  // DeepSeek-V3.2's: a weighted sum over heads of relu(q k), one key
  };
  Kind kind = Kind::kNone;
  int heads = 0;
  int width = 0;  // of a head, even
  int kept = 0;   // keys a row keeps; a row with no more sees all
  int key_heads() const { return kind == Kind::kMean ? heads : 1; }
};

struct Config {
  Form form = Form::kMiniLlm;
  int vocab_size = 0;
  int hidden_size = 0;        // D
  int intermediate_size = 0;  // of dense layers
  int num_layers = 0;         // L
  int num_heads = 0;          // H
  int max_positions = 0;
  Activation activation = Activation::kSilu;
  float norm_eps = 0;
  float latent_eps = 0;  // of the norms inside attention
  bool attention_bias = false;
  bool tie_word_embeddings = false;
  double logit_softcap = 0;   // 0: none; else logits are cap * tanh(logit / cap)
  double residual_scale = 1;  // of both branches; of layer l times exp(-residual_decay * l)
  double residual_decay = 0;

  int q_rank = 0;       // Rq; 0: no bottleneck
  int kv_rank = 0;      // Rk
  int nope_width = 0;   // Dn, of a head's query and key
  int rope_width = 0;   // Dr, even
  int value_width = 0;  // Dv, of a head
  RotaryConfig rotary;

  IndexConfig index;
  bool has_index_tensors = false;  // of kMean: in the checkpoint, whether they are used or not

  RouterConfig router;
  int expert_size = 0;     // Im, inner width of an expert
  int shared_experts = 0;  // computed as one of so many times the width
  int expert_interval = 1;
  int first_expert_layer = 0;
  bool stacked_experts = false;  // as the checkpoint stores them; see Settle, architecture.h

  int residual_heads = 0;  // of form kMiniLlm
  int residual_head_size = 0;
  int mtp_layers = 0;            // of the DeepSeek forms: 0 or 1
  bool mtp_has_experts = false;  // as the checkpoint stores it

  SpecialTokens tokens;
  std::optional<glm_input::Config> images;  // what stands before it; none: text only

  int query_width() const { return nope_width + rope_width; }              // of a head
  int latent_width() const { return (kv_rank + rope_width + 1) / 2 * 2; }  // in the cache
  bool HasExperts(int layer) const;
};

// `model` is config.json's root or the object in it that describes the decoder. Throws
// Error(kModel) naming file and field for anything missing, of the wrong type, out of range,
// contradictory or not computed. Source: MiniLLM's MiniLLMConfig, transformers' DeepseekV3Config.
//
// MiniLLM's index is off unless platen.json says "attention_index": "causal_topk": it was never
// trained, and MiniLLM's own code applies it in a way that depends on how its rows are called.
Config ReadTextConfig(const std::string& snapshot_dir, const JsonObject& model, Form form);

}  // namespace platen::minillm
