// A complete snapshot folder with random weights and any legal sizes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "model/checkpoint/module_table.h"

namespace platen::testing {

// Sizes a random legal configuration may vary.
struct RandomSizes {
  int hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0, layers = 0;
  int mtp_layers = 1;
  int mrope[3] = {};
  int vision_hidden = 0, vision_heads = 0, vision_intermediate = 0, depth = 0;
  bool tied = false;
  double rope_theta = 10000.0;

  std::string Text() const;  // one line for failure messages
};

// Legal sizes drawn from `rng`: head sizes that are no multiple of a vector, one or several KV
// heads, uneven sections, with and without MTP layer and tied head.
RandomSizes DrawSizes(std::mt19937_64& rng);

// Writes model.safetensors with F32 tensors for every module of the table. Weights come from `rng`.
void WriteRandomWeights(const std::string& dir, const ModuleTable& modules, std::mt19937_64& rng);

// Writes config, tokenizer (that of golden snapshot tiny-a) and F32 weights into `dir`, which must
// exist. Weights come from `rng`.
void WriteRandomSnapshot(const std::string& dir, const RandomSizes& sizes, std::mt19937_64& rng);

// A fresh folder below the system's temporary folder, removed with its contents at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace platen::testing
