#include "apps/platen/commands/bench/bench_options.h"

#include <fmt/format.h>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "pipeline/hardware.h"

namespace platen {

OptionTable WithBenchOptions(OptionTable own, const BenchDefaults& defaults) {
  const std::string group = "Options";
  OptionSpec threads = ThreadsOption(group);
  threads.help = defaults.threads_help;
  own.push_back({.name = "repetitions",
                 .type = OptionType::kInteger,
                 .default_value = std::to_string(defaults.repetitions),
                 .value_name = "N",
                 .group = group,
                 .help = "Measurements of each row; the median is reported.",
                 .min = 1,
                 .max = static_cast<double>(defaults.most_repetitions)});
  own.push_back(threads);
  own.push_back(IsaOption(group));
  own.push_back(JsonOption(group));
  own.push_back(HelpOption(group));
  return own;
}

OptionTable WithModelOptions(const OptionTable& own) {
  const std::string group = "Options";
  OptionTable table = {ModelOption(group),  PrecisionOption(group), AttentionOption(group),
                       PackedOption(group), PackedDirOption(group), DraftHeadOption(group)};
  table.insert(table.end(), own.begin(), own.end());
  return table;
}

std::unique_ptr<Model> LoadBenchModel(const Settings& settings) {
  return LoadModelFrom(settings, LocateModel(settings.Text("model")));
}

nlohmann::ordered_json BenchConditions(const Settings& settings, const Model* model) {
  nlohmann::ordered_json json = {{"platen", PLATEN_VERSION},
                                 {"cpu", CpuName()},
                                 {"features", CpuFeatureNames()},
                                 {"kernels", KernelsFrom(settings).name}};
  if (model != nullptr) {
    json["model"] = model->snapshot().dir;
    json["precision"] = PrecisionName(model->precision());
    json["attention"] = VisionAttentionName(model->attention());
    if (model->draft_head()) json["draft_head"] = model->draft_head()->path;
  }
  return json;
}

nlohmann::ordered_json ToJson(const bench::Spread& spread) {
  return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}};
}

nlohmann::ordered_json ToJson(const bench::Peaks& peaks) {
  nlohmann::ordered_json json = {{"int8_instruction", peaks.int8_instruction},
                                 {"int8_gops", peaks.int8_gops},
                                 {"f32_instruction", peaks.f32_instruction},
                                 {"f32_gflops", peaks.f32_gflops}};
  json["dram_gbytes_per_s"] = peaks.dram_gbytes_per_s;
  return json;
}

std::string PeaksText(const bench::Peaks& peaks) {
  return fmt::format("{} {:.0f} GOPS, {} {:.0f} GFLOPS, memory {:.1f} GB/s", peaks.int8_instruction,
                     peaks.int8_gops, peaks.f32_instruction, peaks.f32_gflops,
                     peaks.dram_gbytes_per_s);
}

}  // namespace platen
