#include "model/families/pp_doclayout/architecture.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/checkpoint/weight_source.h"
#include "model/families/pp_doclayout/box_rules.h"
#include "model/families/pp_doclayout/config.h"
#include "model/families/pp_doclayout/detections.h"
#include "model/families/pp_doclayout/modules.h"
#include "model/families/pp_doclayout/network.h"
#include "model/ops/resize_image.h"
#include "model/support/error.h"

namespace platen::pp_doclayout {
namespace {

class Detector final : public LayoutModel {
 public:
  Detector(const KernelTable& kernels, const Config& config, std::shared_ptr<const Weights> weights)
      : network_(kernels, config, std::move(weights)) {}

  std::vector<Detection> Detect(const Image& page, const ArrayObserver& observer) const override {
    if (page.empty()) throw Error(ErrorKind::kInput, {}, "the page has no pixels");
    const Config& config = network_.config();
    const Image resized = ResizeBicubic(page, config.width, config.height, Bicubic::kFourTaps);
    const std::lock_guard lock(mutex_);
    const NetworkResult result = network_.Run(resized, memory_, observer);
    return Detections(result, config.labels, page.width, page.height, observer);
  }

  std::vector<Detection> Apply(BoxRules rules, std::vector<Detection> found, int page_width,
                               int page_height) const override {
    return rules == BoxRules::kSdk ? ApplySdkRules(std::move(found), page_width, page_height)
                                   : ApplyRules(std::move(found), page_width, page_height);
  }

 private:
  const Network network_;
  mutable std::mutex mutex_;
  mutable NetworkMemory memory_;  // guarded by mutex_
};

std::string SizeText(int64_t a, int64_t b) { return std::to_string(a) + "x" + std::to_string(b); }

class PpDocLayout final : public LayoutArchitecture {
 public:
  explicit PpDocLayout(const std::string& snapshot_dir) : config_(ReadConfig(snapshot_dir)) {}

  ModuleTable Modules() const override { return DescribeModules(config_).table; }

  std::unique_ptr<LayoutModel> Load(const Checkpoint& checkpoint,
                                    const KernelTable& kernels) const override {
    BoundModules bound = DescribeModules(config_);
    CheckpointSource source(Precision::kF32);
    LoadModules(bound.table, checkpoint, source);
    FoldConvolutions(*bound.weights);
    return std::make_unique<Detector>(kernels, config_, bound.weights);
  }

  std::vector<FactSection> Facts() const override {
    const DecoderConfig& decoder = config_.decoder;
    std::string channels;
    for (const StageConfig& stage : config_.backbone.stages) {
      channels += (channels.empty() ? "" : ", ") + std::to_string(stage.out_channels);
    }
    return {
        {"layout model",
         {{"image", SizeText(config_.width, config_.height) + " pixels, whatever the page's"},
          {"backbone", "HGNetV2, channels " + channels},
          {"encoder", std::to_string(config_.encoder.width) + " wide, " +
                          std::to_string(config_.encoder.layers) + " transformer layers"},
          {"decoder", std::to_string(decoder.width) + " wide, " + std::to_string(decoder.layers) +
                          " layers, " + std::to_string(decoder.queries) + " queries"},
          {"labels", LabelsText()}}}};
  }

  nlohmann::ordered_json ConfigJson() const override {
    nlohmann::ordered_json kinds = nlohmann::ordered_json::object();
    for (const std::string& label : config_.labels) {
      kinds[label] = RegionKindName(KindOfLabel(label));
    }
    return {{"model_type", "pp_doclayout_v3"},
            {"image", {config_.width, config_.height}},
            {"queries", config_.decoder.queries},
            {"labels", std::move(kinds)}};
  }

 private:
  std::string LabelsText() const {
    std::string text;
    for (const std::string& label : config_.labels) text += (text.empty() ? "" : ", ") + label;
    return text;
  }

  const Config config_;
};

}  // namespace

std::unique_ptr<LayoutArchitecture> ReadArchitecture(const std::string& snapshot_dir) {
  return std::make_unique<PpDocLayout>(snapshot_dir);
}

}  // namespace platen::pp_doclayout
