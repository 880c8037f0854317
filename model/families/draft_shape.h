// What a trainer must know of a family's draft layer or draft heads: which tensors they are made of
// and how these are computed with. The formulas are those of DraftModel and DraftHeads.
//
// D = hidden size. Tensors have the names and shapes of the checkpoint.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/families/gated_mlp.h"

namespace platen {

struct DraftTensor {
  std::string name;
  std::vector<int64_t> shape;  // [n]: a norm or a bias; [n, k]: a matrix

  int64_t size() const;
  int64_t columns() const { return shape.back(); }
  bool is_matrix() const { return shape.size() > 1; }
};

// Rows of one of DraftShape::tensors: [rows, columns of the tensor].
struct WeightPart {
  size_t tensor = 0;
  int64_t first_row = 0;
  int64_t rows = 0;
};

// y = down(act(gate x) * up x)
struct DraftMlp {
  Activation activation = Activation::kSilu;
  WeightPart gate, up;  // [inner, D]
  WeightPart down;      // [D, inner]
};

// A row goes to `per_token` experts; its scores are sigmoids of router x.
struct DraftExperts {
  WeightPart router;  // [E, D]
  std::vector<DraftMlp> experts;
  std::optional<DraftMlp> shared;
  bool normalise = false;  // scores of the chosen ones are divided by their sum
  double scale = 1;
  std::optional<size_t> correction_bias;  // [E]; only the choice depends on it
  // The experts of a row [E logits], ascending, given the bias [E], or none. The choice has no
  // gradient. Thread-safe.
  std::function<std::vector<int>(std::span<const float> logits, std::span<const float> bias)>
      choose;
};

// Keys and values of a row: of Hkv heads by matrices of their own, or of all heads from one latent.
struct DraftAttention {
  int heads = 0;
  int kv_heads = 0;
  int plain_width = 0;   // of a head's query and key, unrotated, first
  int rotary_width = 0;  // behind it
  int value_width = 0;
  double scale = 0;  // of the scores

  // Angle of pair p is position[axis[p]] * frequencies[p]; cosines and sines are multiplied by
  // rotary_factor. Pairs are 2p and 2p + 1, or p and p + rotary_width / 2.
  bool adjacent_pairs = false;
  std::vector<double> frequencies;
  std::vector<int> axis;
  double rotary_factor = 1;

  WeightPart q;  // [heads * key width, D], or of the q latent
  WeightPart k, v;
  WeightPart output;  // [D, heads * value_width]

  struct Latent {
    std::optional<WeightPart> q_a;  // [Rq, D]; none: queries are made of the row itself
    size_t q_norm = 0;              // with q_a
    WeightPart kv_a;                // [Rk + rotary_width, D]: latent, rotary key of all heads
    size_t kv_norm = 0;
    WeightPart kv_b;  // [heads * (plain_width + value_width), Rk]: of a head key, then value
    double eps = 0;
    std::optional<size_t> q_a_bias, kv_a_bias, output_bias;
  };
  std::optional<Latent> latent;  // then kv_heads = heads, and k and v are unused

  int key_width() const { return plain_width + rotary_width; }
};

// z = eh_proj(concat(norm(embedding), norm(hidden))), a decoder layer, a norm.
struct DraftChain {
  size_t enorm = 0, hnorm = 0;
  WeightPart eh_proj;  // [D, 2D]; the embedding half comes first
  size_t input_norm = 0;
  DraftAttention attention;
  std::optional<size_t> attention_branch_norm;  // of what attention gives, before it is added
  size_t mlp_norm = 0;
  std::optional<DraftMlp> mlp;  // one of the two
  std::optional<DraftExperts> experts;
  std::optional<size_t> mlp_branch_norm;
  size_t head_norm = 0;
};

// g + mlp(norm(g)), from head to head.
struct ResidualHeadShape {
  size_t norm = 0;
  DraftMlp mlp;
};

struct DraftShape {
  int64_t hidden_size = 0;
  double norm_eps = 0;
  std::vector<DraftTensor> tensors;
  std::vector<size_t> frozen;       // of `tensors`: used, never trained
  std::optional<DraftChain> chain;  // one of the two
  std::vector<ResidualHeadShape> heads;
  double logit_softcap = 0;  // of the target's head; 0: none
};

// Adds tensors to a shape.
class DraftShapeBuilder {
 public:
  DraftShapeBuilder(DraftShape& shape, std::string prefix)
      : shape_(shape), prefix_(std::move(prefix)) {}

  size_t AddVector(const std::string& name, int64_t size);
  WeightPart AddMatrix(const std::string& name, int64_t rows, int64_t columns);
  // Matrices of a tensor with three dimensions, one below the other.
  WeightPart AddStack(const std::string& name, std::vector<int64_t> shape);
  // NAME.gate_proj, NAME.up_proj and NAME.down_proj; NAME ends in a dot or is empty.
  DraftMlp AddMlp(const std::string& name, int64_t inner, Activation activation);

 private:
  DraftShape& shape_;
  std::string prefix_;
};

// Residual heads behind any decoder, in MiniLLM's names: mtp_layers.K.norm.weight, gate_proj, ...
DraftShape ResidualHeadsShape(int count, int64_t hidden_size, int64_t inner, double norm_eps,
                              Activation activation);

}  // namespace platen
