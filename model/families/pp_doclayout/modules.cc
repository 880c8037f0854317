#include "model/families/pp_doclayout/modules.h"

#include <string>

#include "model/families/pp_doclayout/module_part.h"

namespace platen::pp_doclayout {
namespace {

void DescribeStem(const std::array<int, 3>& channels, StemWeights& stem, Part part) {
  const auto [colours, half, full] = channels;
  const ConvWindow corner = {.kernel = 2, .stride = 1, .pad_before = 0, .pad_after = 1};
  part.Conv(stem.stem1, "embedder.stem1", ConvWindow::Centred(3, 2), colours, half);
  part.Conv(stem.stem2a, "embedder.stem2a", corner, half, half / 2);
  part.Conv(stem.stem2b, "embedder.stem2b", corner, half / 2, half);
  part.Conv(stem.stem3, "embedder.stem3", ConvWindow::Centred(3, 2), 2 * half, half);
  part.Conv(stem.stem4, "embedder.stem4", ConvWindow::Centred(1), half, full);
}

void DescribeBlock(const StageConfig& c, int64_t in, const std::string& name, BackboneBlock& block,
                   Part& part) {
  block.layers.resize(static_cast<size_t>(c.layers));
  int64_t depth = in;
  for (size_t i = 0; i < block.layers.size(); ++i) {
    BackboneLayer& layer = block.layers[i];
    const std::string at = Numbered(name + ".layers", static_cast<int64_t>(i));
    layer.light = c.light;
    if (c.light) {
      part.Conv(layer.conv, at + ".conv1", ConvWindow::Centred(1), depth, c.mid_channels);
      part.Depthwise(layer.depthwise, at + ".conv2", ConvWindow::Centred(c.kernel), c.mid_channels);
    } else {
      part.Conv(layer.conv, at, ConvWindow::Centred(c.kernel), depth, c.mid_channels);
    }
    depth = c.mid_channels;
  }
  const int64_t all = in + int64_t{c.layers} * c.mid_channels;
  part.Conv(block.squeeze, name + ".aggregation.0", ConvWindow::Centred(1), all,
            c.out_channels / 2);
  part.Conv(block.expand, name + ".aggregation.1", ConvWindow::Centred(1), c.out_channels / 2,
            c.out_channels);
}

void DescribeStage(const StageConfig& c, const std::string& name, BackboneStage& stage,
                   Part& part) {
  if (c.downsample) {
    part.Depthwise(stage.downsample, name + ".downsample", ConvWindow::Centred(3, 2),
                   c.in_channels);
  }
  stage.blocks.resize(static_cast<size_t>(c.blocks));
  for (size_t i = 0; i < stage.blocks.size(); ++i) {
    DescribeBlock(c, i == 0 ? c.in_channels : c.out_channels,
                  Numbered(name + ".blocks", static_cast<int64_t>(i)), stage.blocks[i], part);
  }
}

void DescribeAifi(const EncoderConfig& c, EncoderWeights& encoder, Part& part) {
  encoder.aifi.resize(static_cast<size_t>(c.layers));
  for (size_t i = 0; i < encoder.aifi.size(); ++i) {
    AifiLayer& layer = encoder.aifi[i];
    const std::string name = Numbered("encoder.0.layers", static_cast<int64_t>(i));
    part.Attention(layer.attention, name + ".self_attn", c.width);
    part.Norm(layer.attention_norm, name + ".self_attn_layer_norm", c.width);
    part.Matrix(layer.fc1, name + ".fc1", c.ffn, c.width);
    part.Matrix(layer.fc2, name + ".fc2", c.width, c.ffn);
    part.Norm(layer.final_norm, name + ".final_layer_norm", c.width);
  }
}

void DescribeCsp(const EncoderConfig& c, const std::string& name, CspBlock& block, Part& part) {
  const ConvWindow one = ConvWindow::Centred(1);
  part.Conv(block.conv1, name + ".conv1", one, 2 * int64_t{c.width}, c.csp_width);
  part.Conv(block.conv2, name + ".conv2", one, 2 * int64_t{c.width}, c.csp_width);
  for (size_t i = 0; i < block.bottlenecks.size(); ++i) {
    part.Rep(block.bottlenecks[i], Numbered(name + ".bottlenecks", static_cast<int64_t>(i)),
             c.csp_width);
  }
  if (c.csp_width == c.width) return;
  block.conv3.resize(1);
  part.Conv(block.conv3[0], name + ".conv3", one, c.csp_width, c.width);
}

void DescribeMaskBranch(const Config& config, EncoderWeights& encoder, Part part) {
  const EncoderConfig& c = config.encoder;
  const auto [branch, sum] = c.mask_channels;
  const ConvWindow three = ConvWindow::Centred(3);
  for (int level = 0; level < kLevels; ++level) {
    // Between two convolutions of a branch the map is doubled, which counts as a layer.
    auto& convs = encoder.mask_scale[static_cast<size_t>(level)];
    convs.resize(static_cast<size_t>(level == 0 ? 1 : level));
    const std::string name = Numbered("mask_feature_head.scale_heads", level) + ".layers";
    for (size_t i = 0; i < convs.size(); ++i) {
      part.Conv(convs[i], Numbered(name, 2 * static_cast<int64_t>(i)), three,
                i == 0 ? c.width : branch, branch);
    }
  }
  part.Conv(encoder.mask_sum, "mask_feature_head.output_conv", three, branch, sum);
  part.Conv(encoder.mask_lateral, "encoder_mask_lateral", three,
            config.backbone.stages[0].out_channels, sum);
  part.Conv(encoder.mask_base, "encoder_mask_output.base_conv", three, sum, sum);
  part.Pointwise(encoder.mask_output, "encoder_mask_output.conv", config.decoder.prototypes, sum);
}

void DescribeEncoder(const Config& config, EncoderWeights& encoder, Part part) {
  const EncoderConfig& c = config.encoder;
  DescribeAifi(c, encoder, part);
  for (size_t i = 0; i < kLevels - 1; ++i) {
    const auto n = static_cast<int64_t>(i);
    part.Conv(encoder.lateral[i], Numbered("lateral_convs", n), ConvWindow::Centred(1), c.width,
              c.width);
    DescribeCsp(c, Numbered("fpn_blocks", n), encoder.fpn[i], part);
    part.Conv(encoder.downsample[i], Numbered("downsample_convs", n), ConvWindow::Centred(3, 2),
              c.width, c.width);
    DescribeCsp(c, Numbered("pan_blocks", n), encoder.pan[i], part);
  }
  DescribeMaskBranch(config, encoder, part.With(kBackboneNames, kFixedNormEps));
}

void DescribeDecoderLayer(const DecoderConfig& c, int64_t i, DecoderLayer& layer, Part& part) {
  const std::string name = Numbered("decoder.layers", i);
  const int64_t samples = int64_t{c.heads} * kLevels * c.points;
  part.Attention(layer.self_attention, name + ".self_attn", c.width);
  part.Norm(layer.self_norm, name + ".self_attn_layer_norm", c.width);
  part.Stacked(layer.sampling, name + ".encoder_attn.sampling",
               {{name + ".encoder_attn.sampling_offsets", 2 * samples},
                {name + ".encoder_attn.attention_weights", samples}},
               c.width);
  part.Matrix(layer.value, name + ".encoder_attn.value_proj", c.width, c.width);
  part.Matrix(layer.output, name + ".encoder_attn.output_proj", c.width, c.width);
  part.Norm(layer.cross_norm, name + ".encoder_attn_layer_norm", c.width);
  part.Matrix(layer.fc1, name + ".fc1", c.ffn, c.width);
  part.Matrix(layer.fc2, name + ".fc2", c.width, c.ffn);
  part.Norm(layer.final_norm, name + ".final_layer_norm", c.width);
  part.Matrix(layer.order, Numbered("decoder_order_head", i), c.width, c.width);
}

void DescribeDecoder(const Config& config, DecoderWeights& decoder, Part part) {
  const DecoderConfig& c = config.decoder;
  const int64_t d = c.width;
  const auto labels = static_cast<int64_t>(config.labels.size());
  for (size_t i = 0; i < kLevels; ++i) {
    part.Conv(decoder.input_proj[i], Numbered("decoder_input_proj", static_cast<int64_t>(i)),
              ConvWindow::Centred(1), config.encoder.width, d);
  }
  part.Matrix(decoder.enc_output, "enc_output.0", d, d);
  part.Norm(decoder.enc_output_norm, "enc_output.1", d);
  part.Matrix(decoder.enc_score, "enc_score_head", labels, d);
  part.Layers(decoder.mask_query, "mask_query_head", {d, d, d, c.prototypes});
  part.Layers(decoder.query_pos, "decoder.query_pos_head", {4, 2 * d, d});
  part.Layers(decoder.box, "decoder.bbox_embed", {d, d, d, 4});
  part.Matrix(decoder.score, "decoder.class_embed", labels, d);
  part.Norm(decoder.norm, "decoder_norm", d);
  decoder.layers.resize(static_cast<size_t>(c.layers));
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    DescribeDecoderLayer(c, static_cast<int64_t>(i), decoder.layers[i], part);
  }
  part.Matrix(decoder.pointer, "decoder_global_pointer.dense", 2 * int64_t{c.pointer_size}, d);
}

// What files hold besides: the box head under its other name, and embeddings of training.
void DescribeUnused(const Config& config, ModuleTable& table) {
  const int64_t d = config.decoder.width;
  const std::vector<int64_t> outputs = {d, d, 4};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = Numbered("model.enc_bbox_head.layers", static_cast<int64_t>(i));
    const std::string of = Numbered("model.decoder.bbox_embed.layers", static_cast<int64_t>(i));
    table.AddCopy({{name + ".weight", {outputs[i], d}}, "decoder", of + ".weight", ""});
    table.AddCopy({{name + ".bias", {outputs[i]}}, "decoder", of + ".bias", ""});
  }
  const auto labels = static_cast<int64_t>(config.labels.size());
  table.AddCopy({{"model.denoising_class_embed.weight", {labels, d}}, "unused", "", ""});
}

}  // namespace

BoundModules DescribeModules(const Config& config) {
  auto weights = std::make_shared<Weights>();
  BoundModules bound = {weights, ModuleTable(weights)};
  const auto part = [&](const char* prefix, const char* section, const UnitNames& names,
                        float eps) {
    return Part(*weights, bound.table, prefix, section, names, eps);
  };
  DescribeStem(config.backbone.stem_channels, weights->stem,
               part("model.backbone.model.", "backbone", kBackboneNames, kFixedNormEps));
  Part stages = part("model.backbone.model.encoder.", "backbone", kBackboneNames, kFixedNormEps);
  for (size_t i = 0; i < kStages; ++i) {
    DescribeStage(config.backbone.stages[i], Numbered("stages", static_cast<int64_t>(i)),
                  weights->stages[i], stages);
  }
  Part input = part("model.", "encoder", kSequenceNames, kFixedNormEps);
  for (size_t i = 0; i < kLevels; ++i) {
    input.Conv(weights->encoder.input_proj[i],
               Numbered("encoder_input_proj", static_cast<int64_t>(i)), ConvWindow::Centred(1),
               config.backbone.stages[i + 1].out_channels, config.encoder.width);
  }
  DescribeEncoder(config, weights->encoder,
                  part("model.encoder.", "encoder", kNeckNames, config.batch_norm_eps));
  DescribeDecoder(config, weights->decoder,
                  part("model.", "decoder", kSequenceNames, config.batch_norm_eps));
  DescribeUnused(config, bound.table);
  return bound;
}

void FoldConvolutions(Weights& weights) {
  for (ConvUnit* unit : weights.convs) unit->Fold();
  for (RepUnit* unit : weights.reps) unit->Fold();
  for (DepthwiseUnit* unit : weights.depthwise) unit->Fold();
}

}  // namespace platen::pp_doclayout
