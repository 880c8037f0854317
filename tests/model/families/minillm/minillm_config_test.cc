// What a config.json of this family means: defaults, scalings, routers, and what is refused by
// name.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/families/minillm/architecture.h"
#include "model/families/minillm/rotary_config.h"
#include "model/families/minillm/router.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"
#include "tests/support/temp_folder.h"

namespace platen::minillm {
namespace {

using nlohmann::json;
using platen::testing::TempFolder;

Config Read(const json& config, Form form = Form::kMiniLlm) {
  const TempFolder folder;
  return ReadTextConfig(folder.path(), JsonObject(config, "config.json"), form);
}

// The field that is refused; empty: none.
std::string RefusedAt(const json& config, Form form = Form::kMiniLlm) {
  try {
    Read(config, form);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kModel);
    return e.location().field;
  }
}

int64_t Weights(const Config& config) {
  int64_t weights = 0;
  MiniLlm model(config, "");
  const ModuleTable table = model.Modules();
  for (const Module& module : table.modules()) {
    if (module.name != "model.embed_tokens.weight") weights += module.num_weights();
  }
  return weights;  // the head is the embedding
}

// The sizes that MiniLLM's own code gives for its default and its "200mb" preset.
TEST(MiniLlmConfig, DefaultsAreTheReferences) {
  const Config c = Read(json::object());
  EXPECT_EQ(c.intermediate_size, 1408);
  EXPECT_EQ(c.residual_head_size, 1024);
  EXPECT_EQ(c.q_rank, 256);
  EXPECT_EQ(c.latent_width(), 160);
  EXPECT_EQ(c.router.experts, 0);
  EXPECT_TRUE(c.tie_word_embeddings);
  EXPECT_EQ(c.tokens.stop, std::vector<TokenId>{2});
  EXPECT_EQ(Weights(c), 28'585'984);
}

TEST(MiniLlmConfig, ThePresetHasTheReferencesSizes) {
  const Config c = Read({{"hidden_size", 1024},
                         {"num_hidden_layers", 16},
                         {"num_attention_heads", 16},
                         {"use_moe", true},
                         {"n_routed_experts", 8},
                         {"n_shared_experts", 1},
                         {"first_k_dense_replace", 2}});
  EXPECT_EQ(c.intermediate_size, 2752);
  EXPECT_EQ(c.expert_size, 256);
  EXPECT_EQ(c.residual_head_size, 2048);
  EXPECT_FALSE(c.HasExperts(1));
  EXPECT_TRUE(c.HasExperts(2));
  EXPECT_EQ(Weights(c), 163'078'144);
}

TEST(MiniLlmConfig, NoBottleneckIsNullOrZero) {
  EXPECT_EQ(Read({{"q_lora_rank", nullptr}}).q_rank, 0);
  EXPECT_EQ(Read({{"q_lora_rank", 0}}).q_rank, 0);
}

TEST(MiniLlmConfig, LayersWithExpertsFollowTheRuleOfTheForm) {
  Config c;
  c.router.experts = 4;
  c.first_expert_layer = 1;
  c.expert_interval = 2;
  std::vector<int> mini, deep;
  for (int i = 0; i < 6; ++i) {
    c.form = Form::kMiniLlm;
    if (c.HasExperts(i)) mini.push_back(i);
    c.form = Form::kDeepSeekV3;
    if (c.HasExperts(i)) deep.push_back(i);
  }
  EXPECT_EQ(mini, (std::vector<int>{1, 3, 5}));
  EXPECT_EQ(deep, (std::vector<int>{2, 4}));
}

// The switches of MiniLLM's code as its trainer saves them, none of them on.
const char* const kSwitchesOff = R"({
    "dropout": 0.1, "attention_dropout": 0.1, "qk_norm": false, "qk_norm_eps": 1e-06, "value_mix": 0.0,
    "partial_key_offset": 0, "paired_heads": false, "attn_window": 0, "attn_global_tokens": 0,
    "sparse_attn_gate": false, "sparse_attn_gate_topk": 0, "zero_init_residual": true,
    "embed_skip_scale": 0.0, "embed_skip_gate": false, "skip_connections": null, "skip_scale": 1.0,
    "skip_gate": false, "value_embed_count": 0, "value_embed_scale": 0.0, "value_embed_gate": false,
    "value_embed_repeat_ends": true, "smear": false, "smear_scale": 0.0, "bigram_hash_size": 0,
    "bigram_hash_scale": 0.0, "bigram_hash_base": 1000003, "back_out_ratio": 0.0,
    "back_out_scale": 1.0, "untie_lm_head_at_ratio": 0.0, "use_metal_kernels": true,
    "use_attn_gate": false, "attn_gate_init": 4.0, "lora_r": 8, "lora_alpha": 16.0,
    "lora_dropout": 0.05, "lora_targets": "q_proj,k_proj", "num_key_value_heads": 8,
    "topk_method": "noaux_tc", "aux_loss_alpha": 0.001, "seq_aux": true, "mtp_loss_weight": 0.1})";

TEST(MiniLlmConfig, WhatIsNotComputedIsRefusedByName) {
  const json off = json::parse(kSwitchesOff);
  EXPECT_EQ(RefusedAt(off), "");
  const json switches = {{"qk_norm", true},
                         {"value_mix", 0.5},
                         {"partial_key_offset", 1},
                         {"paired_heads", true},
                         {"attn_window", 128},
                         {"attn_global_tokens", 4},
                         {"sparse_attn_gate", true},
                         {"sparse_attn_gate_topk", 2},
                         {"use_attn_gate", true},
                         {"embed_skip_scale", 0.1},
                         {"embed_skip_gate", true},
                         {"skip_connections", json::parse("[[0, 3]]")},
                         {"skip_gate", true},
                         {"value_embed_count", 2},
                         {"value_embed_scale", 0.5},
                         {"value_embed_gate", true},
                         {"smear", true},
                         {"smear_scale", 0.2},
                         {"bigram_hash_size", 4096},
                         {"bigram_hash_scale", 0.05},
                         {"back_out_ratio", 0.5},
                         {"untie_lm_head_at_ratio", 0.7}};
  for (const auto& [key, on] : switches.items()) {
    json config = off;
    config[key] = on;
    EXPECT_EQ(RefusedAt(config), key);
    config[key] = "no";
    EXPECT_EQ(RefusedAt(config), key);
    config[key] = false;
    EXPECT_EQ(RefusedAt(config), "");
  }
  EXPECT_EQ(RefusedAt({{"skip_connections", json::array()}}), "");
  EXPECT_EQ(RefusedAt({{"hidden_act", "gelu"}}), "hidden_act");
  EXPECT_EQ(RefusedAt({{"attention_bias", true}, {"q_lora_rank", 0}}), "attention_bias");
  EXPECT_EQ(RefusedAt({{"kv_lora_rank", 600}}), "kv_lora_rank");
  EXPECT_EQ(RefusedAt({{"qk_rope_head_dim", 31}}), "qk_rope_head_dim");
  EXPECT_EQ(RefusedAt({{"use_moe", true}, {"scoring_func", "tanh"}}), "scoring_func");
  EXPECT_EQ(RefusedAt({{"unheard_of", 7}}), "") << "unknown keys are ignored";
}

TEST(MiniLlmConfig, ScalingsThatAreNotComputedOrContradictoryAreRefusedByName) {
  const auto scaled = [](const json& scaling, const json& beside = json::object()) {
    json config = beside;
    config["rope_scaling"] = scaling;
    return RefusedAt(config);
  };
  EXPECT_EQ(scaled({{"type", "dynamic"}}), "rope_scaling.type");
  EXPECT_EQ(scaled({{"type", "yarn"}, {"factor", 0.5}}), "rope_scaling.factor");
  EXPECT_EQ(scaled({{"type", "yarn"}, {"rope_type", "yarn"}}), "");
  EXPECT_EQ(scaled({{"type", "yarn"}, {"rope_type", "linear"}}), "rope_scaling.type");
  EXPECT_EQ(scaled({{"type", "yarn"}, {"attention_factor", nullptr}, {"truncate", true}}), "");
  EXPECT_EQ(scaled({{"type", "yarn"}, {"attention_factor", 1.2}}), "rope_scaling.attention_factor");
  EXPECT_EQ(scaled({{"type", "yarn"}, {"truncate", false}}), "rope_scaling.truncate");
  // The ramp divides by the logarithm of theta.
  EXPECT_EQ(scaled({{"type", "yarn"}}, {{"rope_theta", 1.0}}), "rope_theta");
  EXPECT_EQ(scaled({{"type", "linear"}, {"factor", 2}}, {{"rope_theta", 1.0}}), "");
  EXPECT_EQ(scaled({{"type", "yarn"}, {"rope_theta", 500.0}}, {{"rope_theta", 500.0}}), "");
  EXPECT_EQ(scaled({{"type", "yarn"}, {"rope_theta", 500.0}}, {{"rope_theta", 1e4}}), "rope_theta");
  const json yarn = {{"type", "yarn"}, {"factor", 4.0}};
  EXPECT_EQ(scaled(yarn, {{"rope_parameters", yarn}}), "");
  EXPECT_EQ(scaled(yarn, {{"rope_parameters", {{"type", "yarn"}, {"factor", 8.0}}}}),
            "rope_parameters");
}

// Small files that describe millions of matrices.
TEST(MiniLlmConfig, MoreHeadsAndExpertsThanAnyModelHasAreRefused) {
  EXPECT_EQ(RefusedAt({{"num_hidden_layers", 32}, {"num_attention_heads", 1024}}), "");
  EXPECT_EQ(RefusedAt({{"num_hidden_layers", 33}, {"num_attention_heads", 1024}}),
            "num_hidden_layers");
  EXPECT_EQ(RefusedAt({{"num_hidden_layers", 1024}, {"use_moe", true}, {"n_routed_experts", 1024}}),
            "num_hidden_layers");
}

TEST(MiniLlmConfig, GroupsThatCannotBeChosenFromAreRefused) {
  const json moe = {{"use_moe", true}, {"n_routed_experts", 8}, {"num_experts_per_tok", 3}};
  const auto with = [&](int groups, int kept, const char* scoring) {
    json config = moe;
    config["n_group"] = groups;
    config["topk_group"] = kept;
    config["scoring_func"] = scoring;
    return RefusedAt(config);
  };
  EXPECT_EQ(with(4, 2, "softmax"), "");
  EXPECT_EQ(with(3, 2, "softmax"), "n_group") << "8 experts in 3 groups";
  EXPECT_EQ(with(4, 1, "softmax"), "topk_group") << "2 experts are fewer than 3";
  EXPECT_EQ(with(8, 4, "sigmoid"), "n_group") << "no two largest of one";
}

const json kWholeDeepSeek = {{"vocab_size", 100},
                             {"hidden_size", 64},
                             {"num_hidden_layers", 2},
                             {"num_attention_heads", 4},
                             {"intermediate_size", 64},
                             {"max_position_embeddings", 512},
                             {"q_lora_rank", nullptr},
                             {"kv_lora_rank", 20},
                             {"qk_nope_head_dim", 12},
                             {"qk_rope_head_dim", 8},
                             {"v_head_dim", 10},
                             {"n_routed_experts", 8},
                             {"num_experts_per_tok", 2},
                             {"n_group", 4},
                             {"topk_group", 2},
                             {"routed_scaling_factor", 2.5},
                             {"moe_intermediate_size", 20},
                             {"n_shared_experts", 1},
                             {"first_k_dense_replace", 1},
                             {"eos_token_id", 2}};

// Of DeepSeek's fields, none takes MiniLLM's default.
TEST(MiniLlmConfig, DeepSeekHasNoDefaultSizes) {
  EXPECT_EQ(RefusedAt(kWholeDeepSeek, Form::kDeepSeekV3), "");
  for (const auto& [key, value] : kWholeDeepSeek.items()) {
    json without = kWholeDeepSeek;
    without.erase(key);
    EXPECT_EQ(RefusedAt(without, Form::kDeepSeekV3), key);
  }
  json other = kWholeDeepSeek;
  other["topk_method"] = "group_limited_greedy";
  EXPECT_EQ(RefusedAt(other, Form::kDeepSeekV3), "topk_method");
  EXPECT_EQ(RefusedAt({{"use_moe", true}, {"topk_method", "greedy"}}), "")
      << "MiniLLM reads it not";
}

RotaryConfig Yarn(double mscale, double all_dim) {
  RotaryConfig rotary;
  rotary.theta = 10000;
  rotary.scaling = RotaryConfig::Scaling::kYarn;
  rotary.factor = 40;
  rotary.original_positions = 4096;
  rotary.mscale = mscale;
  rotary.mscale_all_dim = all_dim;
  return rotary;
}

// Worked out in double beforehand; between dimensions 5 and 12 the frequencies are mixed.
TEST(Yarn, FrequenciesAreTheReferences) {
  const std::vector<float> f = Frequencies(Yarn(1, 0), 32, 163840);
  const std::vector<double> expected = {1,
                                        0.562341325,
                                        0.316227766,
                                        0.177827941,
                                        0.1,
                                        0.0562341325,
                                        0.0272181756,
                                        0.0128290157,
                                        0.00582142857,
                                        0.00249036873,
                                        0.000959977147,
                                        0.000292145903,
                                        2.5e-05,
                                        1.40585331e-05,
                                        7.90569415e-06,
                                        4.44569853e-06};
  ASSERT_EQ(f.size(), expected.size());
  for (size_t d = 0; d < f.size(); ++d) EXPECT_NEAR(f[d] / expected[d], 1, 1e-6) << d;
  const std::vector<float> wide = Frequencies(Yarn(1, 0), 64, 163840);
  EXPECT_NEAR(wide[11] / 0.0390069266, 1, 1e-6);
  EXPECT_NEAR(wide[16] / 0.0055, 1, 1e-6);
  EXPECT_NEAR(wide[31] / 3.33380358e-06, 1, 1e-6);
}

// The ramp may end behind the last pair, at most at the last dimension: here it goes from 1 to 6,
// with four pairs of eight dimensions.
TEST(Yarn, TheRampEndsAtTheLastDimensionNotAtTheLastPair) {
  RotaryConfig rotary = Yarn(1, 0);
  rotary.theta = 500;
  rotary.original_positions = 65536;
  rotary.beta_fast = 1000;
  const std::vector<float> f = Frequencies(rotary, 8, 65536 * 40);
  const std::vector<double> plain = {1, 0.2114742527, 0.0447213595, 0.0094574161};
  const std::vector<double> ramp = {0, 0, 0.2, 0.4};
  for (size_t d = 0; d < f.size(); ++d) {
    EXPECT_NEAR(f[d] / (plain[d] * (ramp[d] / 40 + 1 - ramp[d])), 1, 1e-6) << d;
  }
}

TEST(Yarn, FrequenciesStayWhereTheContextIsNoLonger) {
  RotaryConfig plain = Yarn(1, 0);
  plain.scaling = RotaryConfig::Scaling::kNone;
  EXPECT_EQ(Frequencies(Yarn(1, 0), 32, 4096), Frequencies(plain, 32, 4096));
  EXPECT_NE(Frequencies(Yarn(1, 0), 32, 4097), Frequencies(plain, 32, 4097));
}

TEST(Yarn, TheTwoFactorsAreTheReferences) {
  EXPECT_NEAR(TableFactor(Yarn(1, 0)), 1.368887945, 1e-9);
  EXPECT_EQ(ScoreFactor(Yarn(1, 0)), 1);
  EXPECT_EQ(TableFactor(Yarn(1, 1)), 1);
  EXPECT_NEAR(ScoreFactor(Yarn(1, 1)), 1.873854207, 1e-8);
  EXPECT_NEAR(ScoreFactor(Yarn(0.707, 0.707)), 1.589626165, 1e-8);
}

struct RouterCase {
  RouterConfig config;
  std::vector<float> bias;
  std::vector<int> experts;
  std::vector<double> weights;
};

void ExpectChosen(const RouterCase& c) {
  const std::vector<float> logits = {0.9F, -0.4F, 1.3F, 0.2F, -1.1F, 0.7F, 1.1F, 0.05F};
  Router router(c.config);
  std::vector<ExpertChoice> chosen;
  router.Choose(logits, c.bias, chosen);
  ASSERT_EQ(chosen.size(), c.experts.size());
  for (size_t i = 0; i < chosen.size(); ++i) {
    EXPECT_EQ(chosen[i].expert, c.experts[i]);
    if (!c.weights.empty()) {
      EXPECT_NEAR(chosen[i].weight, c.weights[i], 1e-6);
    }
  }
}

RouterConfig Of8(int per_token, RouterConfig::Scoring scoring, bool normalise) {
  RouterConfig c;
  c.experts = 8;
  c.per_token = per_token;
  c.scoring = scoring;
  c.normalise = normalise;
  return c;
}

// Worked out beforehand, in ascending order of the experts.
TEST(Router, ChoosesAndWeighsAsWorkedOut) {
  using Scoring = RouterConfig::Scoring;
  ExpectChosen({Of8(2, Scoring::kSoftmax, true), {}, {2, 6}, {0.549834, 0.450166}});
  ExpectChosen({Of8(2, Scoring::kSigmoid, true), {}, {2, 6}, {0.511580, 0.488420}});
  RouterConfig grouped = Of8(2, Scoring::kSoftmax, false);
  grouped.groups = 4;
  grouped.kept_groups = 2;
  ExpectChosen({grouped, {}, {2, 6}, {0.254412, 0.208295}});
  RouterConfig deep = Of8(2, Scoring::kSigmoid, true);
  deep.groups = 4;
  deep.kept_groups = 2;
  deep.group_value = RouterConfig::GroupValue::kTwoLargest;
  deep.scale = 2.5;
  ExpectChosen({deep, {0, .35F, -.30F, 0, .25F, 0, -.2F, .1F}, {0, 1}, {1.597981, 0.902019}});
  deep.per_token = 3;
  ExpectChosen({deep, {-.9F, -.8F, -.95F, -.7F, -.9F, -.8F, -.9F, -.85F}, {2, 3, 6}, {}});
}

// Scores near 0: DeepSeek's weights still add up to 1, MiniLLM's do not.
TEST(Router, TheLeastSumOfWeightsIsThatOfTheForm) {
  const std::vector<float> logits(8, -40.0F);
  const auto sum = [&](const RouterConfig& config) {
    Router router(config);
    std::vector<ExpertChoice> chosen;
    router.Choose(logits, {}, chosen);
    return chosen.at(0).weight + chosen.at(1).weight;
  };
  json moe = kWholeDeepSeek;
  moe["routed_scaling_factor"] = 1;
  EXPECT_EQ(sum(Read(moe, Form::kDeepSeekV3).router), 1.0F);
  moe["use_moe"] = true;
  moe["scoring_func"] = "sigmoid";
  EXPECT_LT(sum(Read(moe).router), 1e-6F);
}

TEST(Router, OfEqualExpertsTheFirstIsChosen) {
  RouterConfig c = Of8(2, RouterConfig::Scoring::kSoftmax, true);
  Router router(c);
  std::vector<ExpertChoice> chosen;
  router.Choose(std::vector<float>{1, 2, 2, 2, 1, 2, 1, 1}, {}, chosen);
  EXPECT_EQ(chosen[0].expert, 1);
  EXPECT_EQ(chosen[1].expert, 2);
  EXPECT_EQ(chosen[0].weight, 0.5F);
}

}  // namespace
}  // namespace platen::minillm
