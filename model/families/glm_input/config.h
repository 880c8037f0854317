// What stands before the decoder in a snapshot of GLM-OCR: images, their encoder, the tokens that
// stand for them. Other decoders stand behind the same.
//
// Nothing here has a silent default that the released model would contradict: a field the model
// needs and the file omits is an error, except where the reference implementation itself has a
// default (named at the field). All structs are plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/families/special_tokens.h"
#include "model/support/token_id.h"

namespace platen {
class JsonObject;
}

namespace platen::glm_input {

// config.json -> vision_config. Shapes in comments use C = hidden_size, H = num_heads.
struct VisionConfig {
  int depth = 0;              // number of blocks
  int hidden_size = 0;        // C
  int num_heads = 0;          // H; head_dim = C / H, a multiple of 4 (rotary over rows and columns)
  int intermediate_size = 0;  // SwiGLU width of a block
  int in_channels = 3;        // always 3: RGB
  int patch_size = 0;         // pixels
  int temporal_patch_size = 0;  // frames per patch; a still image is repeated
  int spatial_merge_size = 0;   // always 2: 2x2 patches make one image token
  int out_hidden_size = 0;      // width of the merger's output = text hidden_size
  float rms_norm_eps = 0;
  double rope_theta = 10000.0;

  int head_dim() const { return hidden_size / num_heads; }
  // Values of one flattened patch: channels x frames x rows x columns.
  int patch_values() const { return in_channels * temporal_patch_size * patch_size * patch_size; }
  // SwiGLU width of the merger: out_hidden_size * in_channels, as the reference defines it.
  int merger_intermediate_size() const { return out_hidden_size * in_channels; }
};

// Token ids of config.json that stand for images in a prompt, checked against the tokenizer.
struct ImageTokens {
  TokenId image = -1;
  TokenId start = -1;
  TokenId end = -1;
};

// preprocessor_config.json.
struct ImageProcessorConfig {
  int64_t min_pixels = 0;  // size.shortest_edge: a pixel volume (rows x columns x frames)
  int64_t max_pixels = 0;  // size.longest_edge: likewise
  int patch_size = 0;
  int temporal_patch_size = 0;
  int merge_size = 0;
  std::array<double, 3> mean = {};
  std::array<double, 3> std = {};
  double rescale_factor = 1.0 / 255.0;

  int factor() const { return patch_size * merge_size; }  // image sides are multiples of it
};

struct Config {
  VisionConfig vision;
  ImageTokens image_tokens;
  ImageProcessorConfig image_processor;
};

// What the decoder behind it is.
struct DecoderFacts {
  int hidden_size = 0;
  int vocab_size = 0;
  const SpecialTokens& tokens;
};

// `root` is config.json's root; reads preprocessor_config.json too. Throws Error(kModel) naming
// file and field for anything missing, of the wrong type, out of range or contradictory. Unknown
// keys are ignored. Source: the released zai-org/GLM-OCR files; transformers' GlmOcrConfig for
// defaults.
Config ReadConfig(const std::string& snapshot_dir, const JsonObject& root,
                  const DecoderFacts& decoder);

}  // namespace platen::glm_input
