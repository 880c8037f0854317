// config.json and preprocessor_config.json of a PP-DocLayoutV3 snapshot, checked.
//
// Fields that are absent have the defaults of the reference classes (PPDocLayoutV3Config,
// HGNetV2Config of transformers 5.23). A value that this program cannot honour is refused by name.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace platen::pp_doclayout {

inline constexpr int kStages = 4;  // of the backbone
inline constexpr int kLevels = 3;  // maps behind it, of the strides 8, 16 and 32
inline constexpr int kBottlenecks = 3;
inline constexpr float kFixedNormEps = 1e-5F;  // of backbone, input projections and mask branch

struct StageConfig {
  int in_channels = 0;
  int mid_channels = 0;
  int out_channels = 0;
  int blocks = 0;
  int layers = 0;  // of a block
  bool downsample = false;
  bool light = false;  // layers are 1x1 and a depthwise convolution
  int kernel = 0;
};

// HGNetV2
struct BackboneConfig {
  std::array<int, 3> stem_channels = {};
  std::array<StageConfig, kStages> stages;
};

// The encoder between backbone and decoder.
struct EncoderConfig {
  int width = 0;  // of its maps
  int layers = 0;
  int heads = 0;
  int ffn = 0;
  int csp_width = 0;  // inside of a CSP block
  double temperature = 0;
  std::array<int, 2> mask_channels = {};  // of the branches, of their sum
};

struct DecoderConfig {
  int width = 0;
  int layers = 0;
  int heads = 0;
  int points = 0;
  int ffn = 0;
  int queries = 0;
  int prototypes = 0;
  int pointer_size = 0;  // of the order's queries and keys
};

struct Config {
  BackboneConfig backbone;
  EncoderConfig encoder;
  DecoderConfig decoder;
  std::vector<std::string> labels;
  float batch_norm_eps = 0;
  float layer_norm_eps = 0;
  int height = 0;  // of the image as the network sees it; multiples of 32
  int width = 0;

  int level_height(int level) const { return height / (8 << level); }
  int level_width(int level) const { return width / (8 << level); }
  int tokens() const;  // pixels of all levels
};

// Throws Error(kModel) naming file and field.
Config ReadConfig(const std::string& snapshot_dir);

}  // namespace platen::pp_doclayout
