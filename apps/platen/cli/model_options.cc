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
              "Snapshot folder in Hugging Face layout, e.g. zai-org/GLM-OCR as downloaded. "
              "Without it: the bundled platen-mini.",
          .environment = "PLATEN_MODEL",
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

OptionSpec VisionAttentionOption(const std::string& group) {
  return {.name = "vision-attention",
          .type = OptionType::kChoice,
          .default_value = "f32",
          .value_name = "NAME",
          .group = group,
          .help =
              "Products of the image encoder's attention. bf16 is faster on CPUs with AMX, "
              "bf16-dot on those with AVX512_BF16 and one FMA unit of its width, such as AMD's "
              "Zen 4; on others they are slower (platen doctor says which to take). With each "
              "the text may differ in rare places, and is the same on every CPU.",
          .choices = {"f32", "bf16", "bf16-dot"},
          .former_names = {"attention"},
          .changes_results = 5,
          .name_in_results = "attention"};
}

OptionSpec DraftHeadOption(const std::string& group) {
  return {.name = "draft-head",
          .value_name = "FILE",
          .group = group,
          .help =
              "A safetensors file with another draft layer for the model, under the names of "
              "the snapshot's. Changes the speed, never the text.",
          .changes_results = OptionSpec::kNo};
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

VisionAttention VisionAttentionNamed(const std::string& name) {
  for (const auto attention : {VisionAttention::kBf16, VisionAttention::kBf16Dot}) {
    if (name == VisionAttentionName(attention)) return attention;
  }
  return VisionAttention::kF32;
}

VisionAttention VisionAttentionFrom(const Settings& settings) {
  return VisionAttentionNamed(settings.Text("vision-attention"));
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
