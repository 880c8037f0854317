// Reading the configuration files: what is accepted, what is refused and how it is named.
#include "model/families/glm_ocr/config.h"

#include <gtest/gtest.h>

#include "model/support/error.h"
#include "tests/support/npy.h"
#include "tests/support/snapshot_edits.h"

namespace platen::glm_ocr {
namespace {

using nlohmann::json;
using namespace nlohmann::literals;
using platen::testing::ApplyEdit;
using platen::testing::ReadFile;
using platen::testing::SourcePath;
using platen::testing::TempFolder;

// A copy of the golden snapshot tiny-a's configuration to edit.
class EditedConfig {
 public:
  EditedConfig() {
    const std::string tiny_a = SourcePath("tests/golden/snapshots/tiny-a/");
    for (const char* name : {"config.json", "generation_config.json", "preprocessor_config.json"}) {
      folder_.Write(name, ReadFile(tiny_a + name));
    }
  }

  EditedConfig& Set(const std::string& file, const json& path, const json& value) {
    ApplyEdit({{"op", "json_set"}, {"file", file}, {"path", path}, {"value", value}}, folder_);
    return *this;
  }
  EditedConfig& Delete(const std::string& file, const json& path) {
    ApplyEdit({{"op", "json_delete"}, {"file", file}, {"path", path}}, folder_);
    return *this;
  }
  EditedConfig& Write(const std::string& file, const std::string& text) {
    folder_.Write(file, text);
    return *this;
  }
  EditedConfig& Remove(const std::string& file) {
    std::filesystem::remove(folder_ / file);
    return *this;
  }

  Config Read() const { return ReadConfig(folder_.path()); }
  // "file: field", or "" if the configuration is accepted.
  std::string RefusedAt() const {
    try {
      Read();
      return "";
    } catch (const Error& error) {
      const std::string file = std::filesystem::path(error.location().file).filename().string();
      return file + ": " + error.location().field;
    }
  }
  std::string Reason() const {
    try {
      Read();
      return "";
    } catch (const Error& error) {
      return error.reason();
    }
  }

 private:
  TempFolder folder_;
};

constexpr char kConfig[] = "config.json";
constexpr char kGeneration[] = "generation_config.json";
constexpr char kPreprocessor[] = "preprocessor_config.json";

struct Refusal {
  const char* file;
  json path;
  json value;
  std::string at;  // expected "file: field"
};

TEST(Config, RefusesEveryValueItCannotHonourByName) {
  const std::vector<Refusal> cases = {
      {kConfig, {"text_config", "hidden_act"}, "gelu", "config.json: text_config.hidden_act"},
      {kConfig, {"text_config", "attention_bias"}, true, "config.json: text_config.attention_bias"},
      {kConfig, {"text_config", "model_type"}, "glm4", "config.json: text_config.model_type"},
      {kConfig, {"text_config", "head_dim"}, 15, "config.json: text_config.head_dim"},
      {kConfig,
       {"text_config", "head_dim"},
       18,
       "config.json: text_config.rope_parameters.mrope_section"},
      {kConfig, {"text_config", "rms_norm_eps"}, 0.0, "config.json: text_config.rms_norm_eps"},
      {kConfig, {"text_config", "rms_norm_eps"}, -1e-5, "config.json: text_config.rms_norm_eps"},
      {kConfig,
       {"text_config", "num_hidden_layers"},
       3.5,
       "config.json: text_config.num_hidden_layers"},
      {kConfig,
       {"text_config", "num_nextn_predict_layers"},
       2,
       "config.json: text_config.num_nextn_predict_layers"},
      {kConfig,
       {"text_config", "max_position_embeddings"},
       0,
       "config.json: text_config.max_position_embeddings"},
      {kConfig,
       {"text_config", "vocab_size"},
       18446744073709551615ULL,
       "config.json: text_config.vocab_size"},
      {kConfig,
       {"text_config", "rope_parameters", "rope_type"},
       "yarn",
       "config.json: text_config.rope_parameters.rope_type"},
      {kConfig,
       {"text_config", "rope_parameters", "partial_rotary_factor"},
       0.5,
       "config.json: text_config.rope_parameters.partial_rotary_factor"},
      {kConfig,
       {"text_config", "rope_parameters", "mrope_section"},
       {4, 4},
       "config.json: text_config.rope_parameters.mrope_section"},
      {kConfig,
       {"text_config", "rope_parameters", "mrope_section"},
       {9, -1, 0},
       "config.json: text_config.rope_parameters.mrope_section"},
      {kConfig,
       {"vision_config", "attention_bias"},
       false,
       "config.json: vision_config.attention_bias"},
      {kConfig,
       {"vision_config", "spatial_merge_size"},
       3,
       "config.json: vision_config.spatial_merge_size"},
      {kConfig, {"vision_config", "in_channels"}, 1, "config.json: vision_config.in_channels"},
      {kConfig, {"vision_config", "num_heads"}, 32, "config.json: vision_config.num_heads"},
      {kConfig,
       {"vision_config", "out_hidden_size"},
       64,
       "config.json: vision_config.out_hidden_size"},
      {kConfig, {"vision_config", "patch_size"}, 100'000, "config.json: vision_config.patch_size"},
      {kConfig,
       {"vision_config", "rope_parameters", "rope_type"},
       "linear",
       "config.json: vision_config.rope_parameters.rope_type"},
      {kConfig, {"quantization_config"}, {{"bits", 8}}, "config.json: quantization_config"},
      {kConfig, {"image_end_token_id"}, 907, "config.json: image_end_token_id"},
      {kConfig,
       {"text_config", "eos_token_id"},
       json::array(),
       "config.json: text_config.eos_token_id"},
      {kConfig,
       {"text_config", "eos_token_id"},
       {873, "880"},
       "config.json: text_config.eos_token_id"},
      {kGeneration, {"eos_token_id"}, {873}, "generation_config.json: eos_token_id"},
      {kGeneration, {"eos_token_id"}, {873, 912}, "generation_config.json: eos_token_id"},
      {kGeneration, {"pad_token_id"}, 880, "generation_config.json: pad_token_id"},
      {kPreprocessor, {"patch_size"}, 16, "preprocessor_config.json: patch_size"},
      {kPreprocessor, {"temporal_patch_size"}, 1, "preprocessor_config.json: temporal_patch_size"},
      {kPreprocessor, {"merge_size"}, 4, "preprocessor_config.json: merge_size"},
      {kPreprocessor, {"do_resize"}, false, "preprocessor_config.json: do_resize"},
      {kPreprocessor, {"resample"}, 2, "preprocessor_config.json: resample"},
      {kPreprocessor, {"image_mean"}, {0.5, 0.5}, "preprocessor_config.json: image_mean"},
      {kPreprocessor, {"rescale_factor"}, 0.0, "preprocessor_config.json: rescale_factor"},
      {kPreprocessor, {"size", "shortest_edge"}, 0, "preprocessor_config.json: size.shortest_edge"},
      {kPreprocessor,
       {"size", "longest_edge"},
       12543,
       "preprocessor_config.json: size.longest_edge"},
      {kPreprocessor,
       {"image_processor_type"},
       "CLIPImageProcessor",
       "preprocessor_config.json: image_processor_type"},
  };
  for (const Refusal& c : cases) {
    EXPECT_EQ(EditedConfig().Set(c.file, c.path, c.value).RefusedAt(), c.at)
        << c.path << " = " << c.value;
  }
}

TEST(Config, RefusesEveryMissingFieldItNeedsByName) {
  const std::vector<json> needed = {
      {"model_type"},
      {"image_token_id"},
      {"image_start_token_id"},
      {"image_end_token_id"},
      {"vision_config"},
      {"text_config", "vocab_size"},
      {"text_config", "intermediate_size"},
      {"text_config", "num_hidden_layers"},
      {"text_config", "num_attention_heads"},
      {"text_config", "num_key_value_heads"},
      {"text_config", "head_dim"},
      {"text_config", "rms_norm_eps"},
      {"text_config", "max_position_embeddings"},
      {"text_config", "rope_parameters"},
      {"text_config", "rope_parameters", "rope_theta"},
      {"text_config", "rope_parameters", "mrope_section"},
      {"vision_config", "depth"},
      {"vision_config", "hidden_size"},
      {"vision_config", "num_heads"},
      {"vision_config", "intermediate_size"},
      {"vision_config", "patch_size"},
      {"vision_config", "temporal_patch_size"},
      {"vision_config", "out_hidden_size"},
      {"vision_config", "rms_norm_eps"},
  };
  for (const json& path : needed) {
    std::string field;
    for (const json& step : path) {
      if (!field.empty()) field += ".";
      field += step.get<std::string>();
    }
    EXPECT_EQ(EditedConfig().Delete(kConfig, path).RefusedAt(), "config.json: " + field);
  }
  EXPECT_EQ(EditedConfig().Delete(kPreprocessor, {"size", "longest_edge"}).RefusedAt(),
            "preprocessor_config.json: size.longest_edge");
  EXPECT_EQ(EditedConfig().Remove(kPreprocessor).RefusedAt(), "preprocessor_config.json: ");
}

TEST(Config, TakesTheReferencesDefaultsForWhatMayBeMissing) {
  EXPECT_EQ(EditedConfig()
                .Delete(kConfig, {"vision_config", "rope_parameters"})
                .Read()
                .input.vision.rope_theta,
            10000.0);
  EXPECT_EQ(EditedConfig()
                .Delete(kConfig, {"text_config", "num_nextn_predict_layers"})
                .Read()
                .text.num_mtp_layers,
            0);
  const Config bare = EditedConfig().Write(kPreprocessor, "{}").Read();
  EXPECT_EQ(bare.input.image_processor.min_pixels, 12544);
  EXPECT_EQ(bare.input.image_processor.max_pixels, 11'760'000);
  EXPECT_EQ(bare.input.image_processor.patch_size, 14);
  EXPECT_EQ(bare.input.image_processor.mean[0], 0.48145466);
  EXPECT_EQ(bare.input.image_processor.rescale_factor, 1.0 / 255.0);
}

// Rotary settings may stand in rope_parameters, in rope_scaling (an older name, which the reference
// takes in its place) and beside them.
const json kYarn = R"({"rope_type": "yarn", "factor": 2.0, "rope_theta": 10000.0})"_json;
const json kSameTextRope =
    R"({"rope_type": "default", "rope_theta": 10000, "mrope_section": [2, 3, 3]})"_json;

TEST(Config, RefusesRotarySettingsWhereverTheReferenceWouldHonourThem) {
  for (const std::string model : {"text_config", "vision_config"}) {
    const std::string at = "config.json: " + model + ".";
    for (const bool without : {false, true}) {  // rope_parameters
      const auto refused_at = [&](const std::string& key, const json& value) {
        EditedConfig config;
        config.Set(kConfig, {model, key}, value);
        if (without) config.Delete(kConfig, {model, "rope_parameters"});
        return config.RefusedAt();
      };
      EXPECT_EQ(refused_at("rope_scaling", kYarn), at + "rope_scaling.rope_type");
      EXPECT_EQ(refused_at("rope_scaling", R"({"type": "linear", "factor": 2.0})"_json),
                at + "rope_scaling.type");
      EXPECT_EQ(refused_at("rope_scaling", R"({"partial_rotary_factor": 0.5})"_json),
                at + "rope_scaling.partial_rotary_factor");
      EXPECT_EQ(refused_at("rope_scaling", "linear"), at + "rope_scaling");
      EXPECT_EQ(refused_at("partial_rotary_factor", 0.5), at + "partial_rotary_factor");
    }
    EXPECT_EQ(EditedConfig().Set(kConfig, {model, "rope_theta"}, 500.0).RefusedAt(),
              at + "rope_theta");
    EXPECT_EQ(EditedConfig()
                  .Set(kConfig, {model, "rope_scaling"}, kSameTextRope)
                  .Set(kConfig, {model, "rope_parameters", "rope_theta"}, 500.0)
                  .RefusedAt(),
              at + "rope_parameters.rope_theta");
    EXPECT_EQ(EditedConfig()
                  .Delete(kConfig, {model, "rope_parameters", "rope_type"})
                  .Set(kConfig, {model, "rope_parameters", "type"}, "dynamic")
                  .RefusedAt(),
              at + "rope_parameters.type");
  }
  // The reference drops rope_parameters beside rope_scaling, and these sections with it.
  EXPECT_EQ(EditedConfig()
                .Set(kConfig, {"text_config", "rope_scaling"}, R"({"rope_theta": 10000})"_json)
                .RefusedAt(),
            "config.json: text_config.rope_scaling.mrope_section");
  EXPECT_EQ(EditedConfig()
                .Set(kConfig, {"text_config", "rope_scaling"}, kSameTextRope)
                .Set(kConfig, {"text_config", "rope_parameters", "mrope_section"}, {3, 2, 3})
                .RefusedAt(),
            "config.json: text_config.rope_parameters.mrope_section");
}

TEST(Config, HonoursRotarySettingsOfOlderConfigurations) {
  // Each without rope_parameters, then without its theta only.
  const auto vision_theta = [](const std::string& key, const json& value, bool whole) {
    EditedConfig config;
    const json all = {"vision_config", "rope_parameters"};
    const json theta = {"vision_config", "rope_parameters", "rope_theta"};
    return config.Delete(kConfig, whole ? all : theta)
        .Set(kConfig, {"vision_config", key}, value)
        .Read()
        .input.vision.rope_theta;
  };
  const json scaling = R"({"type": "default", "rope_theta": 700.0})"_json;
  for (const bool whole : {true, false}) {
    EXPECT_EQ(vision_theta("rope_theta", 500.0, whole), 500.0);
    EXPECT_EQ(vision_theta("rope_scaling", scaling, whole), 700.0);
  }
  EditedConfig config;
  config.Delete(kConfig, {"text_config", "rope_parameters", "rope_theta"})
      .Set(kConfig, {"text_config", "rope_theta"}, 500.0);
  EXPECT_EQ(config.Read().text.rope_theta, 500.0);
  config.Delete(kConfig, {"text_config", "rope_parameters"})
      .Set(kConfig, {"text_config", "rope_scaling"},
           R"({"type": "mrope", "rope_type": "default", "mrope_section": [1, 3, 4]})"_json);
  EXPECT_EQ(config.Read().text.rope_theta, 500.0);
  EXPECT_EQ(config.Read().text.mrope_section, (std::array<int, 3>{1, 3, 4}));
}

TEST(Config, AcceptsWhatSaysTheSameTwice) {
  const std::vector<std::pair<json, json>> harmless = {
      {{"text_config", "rope_scaling"}, nullptr},
      {{"text_config", "rope_scaling"}, json::object()},
      {{"text_config", "rope_scaling"}, kSameTextRope},
      {{"text_config", "rope_theta"}, 10000},
      {{"text_config", "partial_rotary_factor"}, 1.0},
      {{"text_config", "sliding_window"}, nullptr},
      {{"text_config", "attention_chunk_size"}, nullptr},
      {{"text_config", "layer_types"}, {"full_attention", "full_attention", "full_attention"}},
      {{"text_config", "is_causal"}, true},
      {{"vision_config", "rope_scaling"}, nullptr},
      {{"vision_config", "rope_scaling"}, R"({"rope_type": "axial"})"_json},
      {{"vision_config", "rope_theta"}, 10000.0},
      {{"vision_config", "num_attention_heads"}, 4},
      {{"vision_config", "num_hidden_layers"}, 2},
      {{"vision_config", "head_dim"}, 16},
      {{"rope_scaling"}, kYarn},  // the reference reads none of these at the top
      {{"rope_theta"}, 500.0},
      {{"sliding_window"}, 4},
  };
  const Config expected = EditedConfig().Read();
  for (const auto& [path, value] : harmless) {
    SCOPED_TRACE(path.dump() + " = " + value.dump());
    EditedConfig edited;
    edited.Set(kConfig, path, value);
    ASSERT_EQ(edited.RefusedAt(), "") << edited.Reason();
    EXPECT_EQ(edited.Read().text.rope_theta, expected.text.rope_theta);
    EXPECT_EQ(edited.Read().text.mrope_section, expected.text.mrope_section);
    EXPECT_EQ(edited.Read().input.vision.rope_theta, expected.input.vision.rope_theta);
  }
}

TEST(Config, RefusesOtherAttentionThanFullByName) {
  const std::vector<Refusal> cases = {
      {kConfig, {"text_config", "sliding_window"}, 4, "config.json: text_config.sliding_window"},
      {kConfig,
       {"text_config", "attention_chunk_size"},
       64,
       "config.json: text_config.attention_chunk_size"},
      {kConfig,
       {"text_config", "layer_types"},
       {"full_attention", "sliding_attention", "full_attention"},
       "config.json: text_config.layer_types"},
      {kConfig, {"text_config", "layer_types"}, "full", "config.json: text_config.layer_types"},
      {kConfig, {"text_config", "is_causal"}, false, "config.json: text_config.is_causal"},
      {kConfig,
       {"vision_config", "num_attention_heads"},
       2,
       "config.json: vision_config.num_attention_heads"},
      {kConfig,
       {"vision_config", "num_hidden_layers"},
       1,
       "config.json: vision_config.num_hidden_layers"},
      {kConfig, {"vision_config", "head_dim"}, 8, "config.json: vision_config.head_dim"},
  };
  for (const Refusal& c : cases) {
    EXPECT_EQ(EditedConfig().Set(c.file, c.path, c.value).RefusedAt(), c.at)
        << c.path << " = " << c.value;
  }
  // use_sliding_window means nothing to the reference's class.
  EXPECT_EQ(EditedConfig()
                .Set(kConfig, {"text_config", "sliding_window"}, 4)
                .Set(kConfig, {"text_config", "use_sliding_window"}, false)
                .RefusedAt(),
            "config.json: text_config.sliding_window");
}

TEST(Config, TakesStopIdsFromEitherPlace) {
  const std::vector<TokenId> both = {873, 880};
  EXPECT_EQ(EditedConfig().Read().tokens.stop, both);
  EXPECT_EQ(EditedConfig().Remove(kGeneration).Read().tokens.stop, both);
  EXPECT_EQ(EditedConfig().Delete(kConfig, {"text_config", "eos_token_id"}).Read().tokens.stop,
            both);
  EXPECT_EQ(EditedConfig()
                .Remove(kGeneration)
                .Delete(kConfig, {"text_config", "eos_token_id"})
                .RefusedAt(),
            "config.json: text_config.eos_token_id");
  // The order does not matter for agreement; one id may stand without brackets.
  EXPECT_EQ(EditedConfig().Set(kGeneration, {"eos_token_id"}, {880, 873}).RefusedAt(), "");
  EXPECT_EQ(EditedConfig()
                .Set(kGeneration, {"eos_token_id"}, 880)
                .Set(kConfig, {"text_config", "eos_token_id"}, 880)
                .Read()
                .tokens.stop,
            std::vector<TokenId>{880});
}

TEST(Config, TiesTheHeadIfEitherPlaceSaysSo) {
  EXPECT_FALSE(EditedConfig().Read().text.tie_word_embeddings);
  EXPECT_TRUE(
      EditedConfig().Set(kConfig, {"tie_word_embeddings"}, true).Read().text.tie_word_embeddings);
  EXPECT_TRUE(EditedConfig()
                  .Set(kConfig, {"text_config", "tie_word_embeddings"}, true)
                  .Read()
                  .text.tie_word_embeddings);
}

TEST(Config, RefusesDuplicateKeysAndDeepNesting) {
  EXPECT_EQ(
      EditedConfig().Write(kPreprocessor, R"({"patch_size": 14, "patch_size": 16})").RefusedAt(),
      "preprocessor_config.json: patch_size");
  const std::string deep(100'000, '[');
  EXPECT_NE(EditedConfig().Write(kPreprocessor, R"({"a": )" + deep).Reason().find("levels deep"),
            std::string::npos);
  EXPECT_NE(EditedConfig().Write(kPreprocessor, "[]").Reason().find("must be an object"),
            std::string::npos);
  EXPECT_NE(EditedConfig().Write(kPreprocessor, R"({"a": 1e999})").Reason().find("not valid JSON"),
            std::string::npos);
}

}  // namespace
}  // namespace platen::glm_ocr
