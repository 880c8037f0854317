// Valid configuration files of a snapshot, for the fuzz targets that change one of them.
#pragma once

#include <string_view>

namespace platen::fuzz {

inline constexpr std::string_view kConfig = R"({
 "architectures": [
  "GlmOcrForConditionalGeneration"
 ],
 "model_type": "glm_ocr",
 "image_start_token_id": 59256,
 "image_end_token_id": 59257,
 "image_token_id": 59280,
 "video_start_token_id": 59258,
 "video_end_token_id": 59259,
 "video_token_id": 59281,
 "tie_word_embeddings": false,
 "transformers_version": "5.17.0",
 "text_config": {
  "model_type": "glm_ocr_text",
  "dtype": "bfloat16",
  "vocab_size": 59392,
  "hidden_size": 1536,
  "intermediate_size": 4608,
  "num_hidden_layers": 16,
  "num_nextn_predict_layers": 1,
  "num_attention_heads": 16,
  "num_key_value_heads": 8,
  "head_dim": 128,
  "hidden_act": "silu",
  "rms_norm_eps": 1e-05,
  "attention_bias": false,
  "attention_dropout": 0.0,
  "max_position_embeddings": 131072,
  "rope_parameters": {
   "rope_type": "default",
   "rope_theta": 10000,
   "partial_rotary_factor": 1.0,
   "mrope_section": [
    16,
    24,
    24
   ]
  },
  "eos_token_id": [
   59246,
   59253
  ],
  "pad_token_id": 59246,
  "tie_word_embeddings": false,
  "use_cache": true,
  "initializer_range": 0.02
 },
 "vision_config": {
  "model_type": "glm_ocr_vision",
  "depth": 24,
  "hidden_size": 1024,
  "num_heads": 16,
  "intermediate_size": 4096,
  "hidden_act": "silu",
  "attention_bias": true,
  "rms_norm_eps": 1e-05,
  "in_channels": 3,
  "patch_size": 14,
  "temporal_patch_size": 2,
  "spatial_merge_size": 2,
  "out_hidden_size": 1536,
  "hidden_dropout_prob": 0.0,
  "image_size": 336,
  "rope_parameters": {
   "rope_type": "axial",
   "rope_theta": 10000.0
  }
 }
})";

inline constexpr std::string_view kGeneration = R"({
 "do_sample": false,
 "eos_token_id": [
  59246,
  59253
 ],
 "pad_token_id": 59246
})";

inline constexpr std::string_view kPreprocessor = R"({
 "size": {
  "shortest_edge": 12544,
  "longest_edge": 9633792
 },
 "do_rescale": true,
 "patch_size": 14,
 "temporal_patch_size": 2,
 "merge_size": 2,
 "image_mean": [
  0.48145466,
  0.4578275,
  0.40821073
 ],
 "image_std": [
  0.26862954,
  0.26130258,
  0.27577711
 ],
 "image_processor_type": "Glm46VImageProcessor",
 "processor_class": "Glm46VProcessor"
})";

inline constexpr std::string_view kLayoutConfig = R"({
 "model_type": "pp_doclayout_v3",
 "id2label": {"0": "text", "1": "image"},
 "backbone_config": {"model_type": "hgnet_v2", "arch": "L"}
})";

inline constexpr std::string_view kLayoutPreprocessor = R"({
 "size": {"height": 800, "width": 800},
 "resample": 3,
 "image_mean": [0, 0, 0],
 "image_std": [1, 1, 1]
})";

}  // namespace platen::fuzz
