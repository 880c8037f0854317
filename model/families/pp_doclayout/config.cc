#include "model/families/pp_doclayout/config.h"

#include <algorithm>
#include <initializer_list>

#include "model/support/json_fields.h"

namespace platen::pp_doclayout {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxConfigBytes = 1 << 20;
// Far above every released size. With these limits no product of sizes overflows an int64, and no
// map has more than 2^31 values.
constexpr int kMaxChannels = 8192;
constexpr int kMaxBlocks = 16;  // of a stage
constexpr int kMaxBlockLayers = 16;
constexpr int kMaxLayers = 64;
constexpr int kMaxHeads = 64;
constexpr int kMaxHeadDim = 256;
constexpr int kMaxFfn = 1 << 15;
constexpr int kMaxQueries = 1000;  // the order of all pairs is computed
constexpr int kMaxPointer = 1024;
constexpr int kMaxPoints = 64;
constexpr int kMaxLabels = 1000;
constexpr size_t kMaxLabelBytes = 128;
constexpr int64_t kMaxMapBytes = int64_t{1} << 30;
constexpr int kStride = 32;
constexpr int kMaxSide = 2048;

int IntOr(const JsonObject& object, const char* key, int low, int high, int fallback) {
  return object.Has(key) ? object.Int(key, low, high) : fallback;
}

// Fields that only one value is known of.
void ExpectAll(const JsonObject& object,
               std::initializer_list<std::pair<const char*, Json>> expected) {
  for (const auto& [key, value] : expected) object.ExpectIfPresent(key, value);
}

std::vector<int> IntsOr(const JsonObject& object, const char* key, int high,
                        std::vector<int> fallback) {
  return object.Has(key) ? object.Ints(key, fallback.size(), 1, high) : fallback;
}

std::array<bool, kStages> BoolsOr(const JsonObject& object, const char* key,
                                  std::array<bool, kStages> fallback) {
  if (!object.Has(key)) return fallback;
  const Json& list = object.Required(key);
  const auto is_bool = [](const Json& v) { return v.is_boolean(); };
  if (!list.is_array() || list.size() != kStages ||
      !std::all_of(list.begin(), list.end(), is_bool)) {
    object.Fail(key, "must be " + std::to_string(kStages) + " times true or false");
  }
  for (size_t i = 0; i < kStages; ++i) fallback[i] = list[i].get<bool>();
  return fallback;
}

// `arch` names a set of sizes; those of "L" are the defaults of the fields.
void CheckArch(const JsonObject& backbone) {
  if (!backbone.Has("arch")) return;
  const std::string arch = backbone.String("arch", 32);
  if (arch == "L" || backbone.Has("stage_in_channels")) return;
  backbone.Fail("arch", "is " + JsonExcerpt(arch) +
                            "; only the sizes of \"L\" are known, others must be written out "
                            "(stage_in_channels, ...)");
}

void CheckStages(const JsonObject& object, const BackboneConfig& backbone) {
  int before = backbone.stem_channels[2];
  for (const StageConfig& stage : backbone.stages) {
    if (stage.in_channels != before) {
      object.Fail("stage_in_channels", "has " + std::to_string(stage.in_channels) + " behind " +
                                           std::to_string(before) + " channels");
    }
    if (stage.kernel % 2 == 0) object.Fail("stage_kernel_size", "must be odd");
    if (stage.out_channels % 2 != 0) object.Fail("stage_out_channels", "must be even");
    before = stage.out_channels;
  }
}

BackboneConfig ReadBackbone(const JsonObject& object) {
  CheckArch(object);
  ExpectAll(object, {{"model_type", "hgnet_v2"},
                     {"num_channels", 3},
                     {"hidden_act", "relu"},
                     {"stem_strides", Json::array({2, 1, 1, 2, 1})},
                     {"stage_downsample", Json::array({false, true, true, true})},
                     {"stage_downsample_strides", Json::array({2, 2, 2, 2})},
                     {"use_learnable_affine_block", false},
                     {"out_features", Json::array({"stage1", "stage2", "stage3", "stage4"})}});
  BackboneConfig out;
  const std::vector<int> stem = IntsOr(object, "stem_channels", kMaxChannels, {3, 32, 48});
  if (stem[0] != 3) object.Fail("stem_channels", "must begin with 3, the colours");
  if (stem[1] % 2 != 0) object.Fail("stem_channels", "the second must be even");
  std::copy(stem.begin(), stem.end(), out.stem_channels.begin());
  const auto ints = [&](const char* key, int high, std::vector<int> fallback) {
    return IntsOr(object, key, high, std::move(fallback));
  };
  const auto in = ints("stage_in_channels", kMaxChannels, {48, 128, 512, 1024});
  const auto mid = ints("stage_mid_channels", kMaxChannels, {48, 96, 192, 384});
  const auto result = ints("stage_out_channels", kMaxChannels, {128, 512, 1024, 2048});
  const auto blocks = ints("stage_num_blocks", kMaxBlocks, {1, 1, 3, 1});
  const auto layers = ints("stage_numb_of_layers", kMaxBlockLayers, {6, 6, 6, 6});
  const auto kernels = ints("stage_kernel_size", 7, {3, 3, 5, 5});
  const auto light = BoolsOr(object, "stage_light_block", {false, false, true, true});
  for (size_t i = 0; i < kStages; ++i) {
    out.stages[i] = {in[i], mid[i], result[i], blocks[i], layers[i], i > 0, light[i], kernels[i]};
  }
  CheckStages(object, out);
  return out;
}

void CheckHeads(const JsonObject& root, const char* key, int heads, int width, int multiple) {
  if (width % heads == 0 && width / heads <= kMaxHeadDim && width % multiple == 0) return;
  root.Fail(key, "a width of " + std::to_string(width) + " cannot be shared among " +
                     std::to_string(heads) + " heads of at most " + std::to_string(kMaxHeadDim));
}

EncoderConfig ReadEncoder(const JsonObject& root, const BackboneConfig& backbone) {
  ExpectAll(root, {{"feat_strides", Json::array({8, 16, 32})},
                   {"encode_proj_layers", Json::array({2})},
                   {"eval_size", nullptr},
                   {"normalize_before", false},
                   {"encoder_activation_function", "gelu"},
                   {"activation_function", "silu"},
                   {"x4_feat_dim", backbone.stages[0].out_channels}});
  const auto& stages = backbone.stages;
  root.ExpectIfPresent(
      "encoder_in_channels",
      Json::array({stages[1].out_channels, stages[2].out_channels, stages[3].out_channels}));
  EncoderConfig out;
  out.width = IntOr(root, "encoder_hidden_dim", 4, kMaxChannels, 256);
  out.layers = IntOr(root, "encoder_layers", 1, kMaxLayers, 1);
  out.heads = IntOr(root, "encoder_attention_heads", 1, kMaxHeads, 8);
  CheckHeads(root, "encoder_attention_heads", out.heads, out.width, 4);
  out.ffn = IntOr(root, "encoder_ffn_dim", 1, kMaxFfn, 1024);
  const double expansion =
      root.Has("hidden_expansion") ? root.Number("hidden_expansion", 1e-3, 8) : 1.0;
  out.csp_width = static_cast<int>(out.width * expansion);
  if (out.csp_width < 1) root.Fail("hidden_expansion", "leaves no channel");
  out.temperature = root.Has("positional_encoding_temperature")
                        ? root.Number("positional_encoding_temperature", 1, 1e9)
                        : 10000.0;
  const std::vector<int> mask = IntsOr(root, "mask_feature_channels", kMaxChannels, {64, 64});
  out.mask_channels = {mask[0], mask[1]};
  return out;
}

DecoderConfig ReadDecoder(const JsonObject& root, const EncoderConfig& encoder) {
  ExpectAll(root,
            {{"num_feature_levels", kLevels},
             {"mask_enhanced", true},
             {"learn_initial_query", false},
             {"decoder_activation_function", "relu"},
             {"decoder_in_channels", Json::array({encoder.width, encoder.width, encoder.width})}});
  DecoderConfig out;
  out.width = IntOr(root, "d_model", 4, kMaxChannels, 256);
  out.layers = IntOr(root, "decoder_layers", 1, kMaxLayers, 6);
  out.heads = IntOr(root, "decoder_attention_heads", 1, kMaxHeads, 8);
  CheckHeads(root, "decoder_attention_heads", out.heads, out.width, 1);
  out.points = IntOr(root, "decoder_n_points", 1, kMaxPoints, 4);
  out.ffn = IntOr(root, "decoder_ffn_dim", 1, kMaxFfn, 1024);
  out.queries = IntOr(root, "num_queries", 1, kMaxQueries, 300);
  out.prototypes = IntOr(root, "num_prototypes", 1, kMaxChannels, 32);
  out.pointer_size = IntOr(root, "global_pointer_head_size", 1, kMaxPointer, 64);
  return out;
}

// {"0": "abstract", "1": ...}: without them results would have no kinds.
std::vector<std::string> ReadLabels(const JsonObject& root) {
  const JsonObject names = root.Object("id2label");
  const size_t count = names.value().size();
  if (count < 1 || count > kMaxLabels) {
    root.Fail("id2label", "must have 1 to " + std::to_string(kMaxLabels) + " labels");
  }
  std::vector<std::string> labels;
  for (size_t i = 0; i < count; ++i) {
    labels.push_back(names.String(std::to_string(i), kMaxLabelBytes));
  }
  return labels;
}

// The image is resized, whatever its aspect, and its levels divided by 255.
void ReadImageProcessor(const std::string& path, Config& config) {
  const Json json = ReadJsonFile(path, kMaxConfigBytes);
  const JsonObject root(json, path);
  constexpr int kBicubic = 3;
  ExpectAll(root, {{"do_resize", true},
                   {"do_rescale", true},
                   {"do_normalize", true},
                   {"do_pad", false},
                   {"resample", kBicubic},
                   {"image_mean", Json::array({0, 0, 0})},
                   {"image_std", Json::array({1, 1, 1})}});
  if (root.Has("rescale_factor")) root.Number("rescale_factor", 1 / 255.001, 1 / 254.999);
  config.height = config.width = 800;
  if (root.Has("size")) {
    const JsonObject size = root.Object("size");
    config.height = size.Int("height", kStride, kMaxSide);
    config.width = size.Int("width", kStride, kMaxSide);
    for (const char* side : {"height", "width"}) {
      if (size.Int(side, kStride, kMaxSide) % kStride != 0) {
        size.Fail(side, "must be a multiple of " + std::to_string(kStride));
      }
    }
  }
}

// Of the largest map of every stage: what a block of layers writes side by side.
void CheckMapSizes(const JsonObject& root, const Config& config) {
  for (int i = 0; i < kStages; ++i) {
    const StageConfig& stage = config.backbone.stages[static_cast<size_t>(i)];
    const int64_t pixels = int64_t{config.height / (4 << i)} * (config.width / (4 << i));
    const int64_t input = std::max(stage.in_channels, stage.out_channels);
    const int64_t channels = input + int64_t{stage.layers} * stage.mid_channels;
    if (pixels * channels * int64_t{sizeof(float)} <= kMaxMapBytes) continue;
    root.Fail("backbone_config", "stage " + std::to_string(i + 1) + " would need maps of " +
                                     std::to_string(channels) + " channels and " +
                                     std::to_string(pixels) + " pixels; the limit is 1 GiB");
  }
}

}  // namespace

int Config::tokens() const {
  int count = 0;
  for (int level = 0; level < kLevels; ++level) count += level_height(level) * level_width(level);
  return count;
}

Config ReadConfig(const std::string& snapshot_dir) {
  const std::string path = SnapshotFile(snapshot_dir, "config.json");
  const Json json = ReadJsonFile(path, kMaxConfigBytes);
  const JsonObject root(json, path);
  root.ExpectIfPresent("model_type", "pp_doclayout_v3");
  root.ExpectIfPresent("anchor_image_size", nullptr);
  Config config;
  const Json defaults = nlohmann::json::object();
  config.backbone = root.Has("backbone_config")
                        ? ReadBackbone(root.Object("backbone_config"))
                        : ReadBackbone(JsonObject(defaults, path, "backbone_config"));
  config.encoder = ReadEncoder(root, config.backbone);
  config.decoder = ReadDecoder(root, config.encoder);
  config.labels = ReadLabels(root);
  const auto eps = [&](const char* key) {
    return root.Has(key) ? static_cast<float>(root.Number(key, 1e-12, 1.0)) : 1e-5F;
  };
  config.batch_norm_eps = eps("batch_norm_eps");
  config.layer_norm_eps = eps("layer_norm_eps");
  ReadImageProcessor(SnapshotFile(snapshot_dir, "preprocessor_config.json"), config);
  CheckMapSizes(root, config);
  if (config.decoder.queries > config.tokens()) {
    root.Fail("num_queries", std::to_string(config.decoder.queries) +
                                 " is more than the image has places for, " +
                                 std::to_string(config.tokens()));
  }
  return config;
}

}  // namespace platen::pp_doclayout
