#include "apps/platen/cli/model_options.h"

#include <iterator>

#include "model/families/model.h"
#include "model/kernels/kernels.h"
#include "model/support/error.h"
#include "pipeline/hardware.h"

namespace platen {

OptionSpec ModelOption(const std::string& group) {
  return {.name = "model",
          .value_name = "DIR",
          .group = group,
          .help =
              "Snapshot folder in Hugging Face layout, or owner/name[@revision] of a model that "
              "platen fetch has downloaded, e.g. zai-org/GLM-OCR. Without it: the bundled "
              "platen-mini.",
          .changes_results = 1};
}

OptionSpec PrecisionOption(const std::string& group) {
  return {.name = "precision",
          .type = OptionType::kChoice,
          .default_value = "auto",
          .value_name = "NAME",
          .group = group,
          .help =
              "Arithmetic of the linear layers. f32 is the reference; int8 is several times "
              "faster and needs a quarter of the memory; auto is int8 where the CPU has AVX2.",
          .choices = {"auto", "f32", "int8"},
          .changes_results = 4};
}

OptionSpec AttentionOption(const std::string& group) {
  return {.name = "attention",
          .type = OptionType::kChoice,
          .default_value = "auto",
          .value_name = "NAME",
          .group = group,
          .help =
              "Arithmetic of the image encoder's attention. int8 works in exact integers: two to "
              "three times as fast as f32, its error lost beside that of int8 linear layers; auto "
              "is int8 with --precision int8, f32 with f32.",
          .choices = {"auto", "f32", "int8"},
          .former_choices = {{"bf16", "int8"}, {"bf16-dot", "int8"}},
          .former_names = {"vision-attention"},
          .changes_results = 5};
}

OptionSpec DraftHeadOption(const std::string& group) {
  return {.name = "draft-head",
          .value_name = "FILE",
          .group = group,
          .help =
              "A safetensors file with another draft layer for the model, under the names of "
              "the snapshot's, or with residual heads, as platen tune-mtp writes it; own: the "
              "model's. Without it: those that platen tune-mtp install has installed, if any. "
              "Changes the speed, never the text.",
          .changes_results = OptionSpec::kNo};
}

OptionSpec LayoutModelOption(const std::string& group) {
  return {
      .name = "layout-model",
      .value_name = "DIR",
      .group = group,
      .help =
          "A model that finds the regions of a page, as a folder or owner/name: PP-DocLayoutV3 as "
          "downloaded. Without it: a folder PP-DocLayoutV3_safetensors beside the model's, if "
          "there is one, else the built-in rules; classical: always those.",
      .changes_results = 17};
}

OptionSpec BoxRulesOption(const std::string& group) {
  return {.name = "box-rules",
          .type = OptionType::kChoice,
          .default_value = BoxRulesName(BoxRules::kPlaten),
          .value_name = "NAME",
          .group = group,
          .help =
              "Which boxes of a layout model are kept. platen: nothing is lost that no other box "
              "covers; sdk: to the letter those of GLM-OCR's SDK.",
          .choices = {BoxRulesName(BoxRules::kPlaten), BoxRulesName(BoxRules::kSdk)},
          .changes_results = 18};
}

namespace {

std::vector<std::string> IsaChoices() {
  std::vector<std::string> names(std::begin(kKernelNames), std::end(kKernelNames));
  names.insert(names.begin(), "auto");
  return names;
}

}  // namespace

OptionSpec IsaOption(const std::string& group) {
  return {.name = "isa",
          .type = OptionType::kChoice,
          .default_value = "auto",
          .value_name = "NAME",
          .group = group,
          .help =
              "Instruction set of the kernels. All give the same bits; auto is the fastest "
              "this CPU can run.",
          .choices = IsaChoices(),
          .changes_results = OptionSpec::kNo};
}

OptionSpec ThreadsOption(const std::string& group) {
  return {.name = "threads",
          .type = OptionType::kInteger,
          .default_value = "0",
          .value_name = "N",
          .group = group,
          .help = "Threads of the process, all of them; 0 is one for each CPU that it may use.",
          .min = 0,
          .max = 1024,
          .short_name = 'j',
          .changes_results = OptionSpec::kNo};
}

Precision PrecisionFrom(const Settings& settings) {
  return PrecisionNamed(settings.Text("precision"));
}

Precision PrecisionNamed(const std::string& name) {
  if (name == "f32") return Precision::kF32;
  if (name == "int8") return Precision::kInt8;
  return BestPrecision();
}

VisionAttention AttentionNamed(const std::string& name, Precision precision) {
  if (name == "f32") return VisionAttention::kF32;
  if (name == "int8") return VisionAttention::kInt8;
  return AttentionFor(precision);
}

BoxRules BoxRulesFrom(const Settings& settings) {
  return settings.Text("box-rules") == BoxRulesName(BoxRules::kSdk) ? BoxRules::kSdk
                                                                    : BoxRules::kPlaten;
}

const KernelTable& KernelsFrom(const Settings& settings) {
  const std::string& name = settings.Text("isa");
  if (name == "auto") return BestKernels();
  const KernelTable* table = FindKernels(name.c_str());
  if (table == nullptr) {
    throw Error(ErrorKind::kUsage, {"", "--isa"}, "this CPU cannot run " + name);
  }
  return *table;
}

int ThreadsFrom(const Settings& settings) {
  const auto threads = static_cast<int>(settings.Integer("threads"));
  return threads > 0 ? threads : AvailableCpus();
}

}  // namespace platen
