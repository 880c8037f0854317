// Hyper-parameters of a GLM-OCR snapshot, read from its folder and checked before use.
//
// Nothing here has a silent default that the released model would contradict: a field the model
// needs and the file omits is an error, except where the reference implementation itself has a
// default (named at the field). All structs are plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/families/glm_input/config.h"
#include "model/families/special_tokens.h"

namespace platen::glm_ocr {

// config.json -> text_config.
struct TextConfig {
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int num_layers = 0;      // num_hidden_layers; the MTP layer has this index
  int num_mtp_layers = 0;  // num_nextn_predict_layers: 0 or 1
  int num_heads = 0;       // query heads
  int num_kv_heads = 0;    // num_heads is a multiple of it
  int head_dim = 0;        // independent of hidden_size / num_heads
  int max_positions = 0;   // max_position_embeddings
  float rms_norm_eps = 0;
  double rope_theta = 0;
  std::array<int, 3> mrope_section = {};  // T, H, W; sum = head_dim / 2
  bool tie_word_embeddings = false;       // lm_head is embed_tokens; see Settle, architecture.h

  int q_size() const { return num_heads * head_dim; }
  int kv_size() const { return num_kv_heads * head_dim; }
};

struct Config {
  TextConfig text;
  SpecialTokens tokens;
  glm_input::Config input;
};

// Reads config.json, generation_config.json and preprocessor_config.json of a snapshot folder.
// Throws Error(kModel) naming file and field for anything missing, of the wrong type, out of range
// or contradictory. Unknown keys are ignored.
// Source: the released zai-org/GLM-OCR files; transformers' GlmOcrConfig for defaults.
Config ReadConfig(const std::string& snapshot_dir);

}  // namespace platen::glm_ocr
