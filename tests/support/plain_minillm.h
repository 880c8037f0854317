// MiniLLM's and DeepSeek's decoder written as plainly as possible: doubles, loops, one row after
// another, no cache. Keys and values are expanded for every head, as the formulas have them; the
// program never does that.
//
// It follows the specification's formulas and shares nothing with the program but the config and
// the checkpoint reader. Slow; for small models. Tensors by their own form's names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/families/minillm/config.h"

namespace platen::testing {

class PlainMiniLlm {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  // Which keys a row attends to.
  enum class Sparse {
    kOff,
    kCausal,  // the best of those at or before it: what the program computes
    // MiniLLM's own code: rows of the prompt take the best of all its rows, later ones too, which
    // are then masked like the others; rows behind the prompt see all. It depends on what was one
    // call, so the program does not have it.
    kSeed,
  };

  // What `Forward` saw on its way, by the names of the program's observer: "attn0", "mlp0",
  // "layer0", "hidden".
  struct Trace {
    std::map<std::string, Rows> stages;
    std::vector<std::vector<std::set<int>>> kept;  // [layers][rows]; empty set: all
    // The least distance between what was chosen, of experts or keys, and what just was not: below
    // the rounding of floats they may choose otherwise. Equal values do not count.
    double margin = 1e9;
  };

  // `prefix`: of the decoder's tensors.
  PlainMiniLlm(const minillm::Config& config, const Checkpoint& checkpoint, Sparse sparse);

  // Hidden vectors after the final norm. `positions`: of the rotation; none: 0, 1, ... The first
  // `prompt` rows are the prompt; of no meaning but to kSeed.
  Rows Forward(const std::vector<TokenId>& ids, const std::vector<int32_t>& positions,
               size_t prompt, Trace* trace = nullptr) const;
  Row Logits(const Row& hidden) const;

 private:
  struct Tensor {
    std::vector<int64_t> shape;
    std::vector<double> values;
  };
  void Unstack(const std::string& name);
  // Of the two names the one the checkpoint has.
  const Tensor& T(const std::string& name, const std::string& other = {}) const;
  Row Linear(const std::string& name, const Row& x, const std::string& other = {}) const;
  Row Rms(const std::string& name, const Row& x, double eps, const std::string& other = {}) const;

  struct Angles {
    Rows cos, sin;  // [rows][Dr]
  };
  Angles AnglesOf(const std::vector<int32_t>& positions) const;
  // Of one row's `x` at `first` .. first + Dr - 1.
  void Rotate(const Angles& angles, size_t row, bool adjacent, Row& x, size_t first) const;

  struct Latents {
    Rows c, k;      // [rows][Rk], normed; [rows][Dr], rotated
    Rows q;         // [rows][H (Dn + Dr)], rotated
    Rows q_latent;  // [rows][Rq]
  };
  Latents Project(const std::string& layer, const Rows& a, const Angles& angles) const;
  Rows Attention(int layer, const Rows& a, const Angles& angles, size_t prompt, Trace& trace) const;
  // Scores of all pairs by the index.
  Rows IndexScores(const std::string& layer, const Rows& a, const Latents& latents,
                   const Angles& angles) const;
  std::set<int> Keep(const Row& scores, size_t row, size_t prompt, Trace& trace) const;
  Row Mlp(const std::string& name, const Row& a, const std::string& other = {}) const;
  Row Experts(const std::string& layer, const Row& a, Trace& trace) const;

  const minillm::Config config_;
  Sparse sparse_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace platen::testing
