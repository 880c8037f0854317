// What a step of training draft weights costs on a page of a given size: seconds, memory, and the
// share of what the cores can do at most, measured in the same run.
//
//   draft_training --model DIR --prompt 3000 --answer 1000 [--drafts 3] [--repeats 3] [--json FILE]
//
// The page is made up (seeded random tokens and hidden vectors): cost does not depend on them.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/peaks.h"
#include "bench/spread.h"
#include "model/engine/random_stream.h"
#include "model/kernels/gemm_schedule.h"
#include "model/support/atomic_file.h"
#include "model/support/clock.h"
#include "model/support/error.h"
#include "model/training/adamw.h"
#include "model/training/engine_draft.h"
#include "model/training/products.h"
#include "model/training/random_start.h"
#include "model/training/tuner.h"
#include "pipeline/hardware.h"

namespace platen::bench {
namespace {

namespace po = boost::program_options;

struct Options {
  std::string model, json;
  int64_t prompt = 3000, answer = 1000;
  int drafts = 3, repeats = 3;
};

TrainingPage MakePage(const Options& o, const TextSizes& sizes) {
  TrainingPage page;
  page.document = "made up";
  page.prompt = o.prompt;
  const int64_t length = o.prompt + o.answer;
  NoiseAt tokens(1, 0, Noise::kPlain), values(1, 1, Noise::kPlain);
  for (int64_t i = 0; i < length; ++i) {
    const double u = tokens.Uniform(static_cast<uint32_t>(i));
    page.ids.push_back(static_cast<TokenId>(u * 0.9 * sizes.vocab_size));
    for (auto& axis : page.positions) axis.push_back(static_cast<int32_t>(i));
  }
  page.hidden.Resize(length - 1, sizes.hidden_size);
  uint32_t index = 0;
  for (float& value : page.hidden.values()) {
    value = static_cast<float>(2 * values.Uniform(index++) - 1);
  }
  return page;
}

// Operations of losses and gradients, each product counted once forward and twice backward: of the
// layer for every row of every step, of keys and values alone for prompt rows, of the frozen head
// without a gradient of its own, of attention by visible keys.
double OperationsOf(const DraftShape& shape, const Options& o, int64_t vocab_size) {
  double layer = 0, keys = 0;
  for (const DraftTensor& tensor : shape.tensors) {
    if (tensor.is_matrix()) layer += static_cast<double>(tensor.size());
  }
  double attention = 0;
  if (shape.chain) {
    const DraftAttention& a = shape.chain->attention;
    for (const WeightPart& part : {shape.chain->eh_proj, a.k, a.v}) {
      keys += static_cast<double>(part.rows * shape.tensors[part.tensor].columns());
    }
    // Scores and sums forward, their gradients and the scores once more backward.
    attention = 7.0 * 2 * a.heads * (a.key_width() + a.value_width) / 2;
  }
  const double head = 4.0 * static_cast<double>(vocab_size * shape.hidden_size);
  double all = 0;
  for (int d = 0; d < o.drafts; ++d) {
    const auto rows = static_cast<double>(RowsOfStep(o.prompt, o.prompt + o.answer, d));
    all += rows * (6 * layer + head + attention * (static_cast<double>(o.prompt) + rows / 2));
  }
  return all + static_cast<double>(o.prompt) * 6 * keys;
}

// The engine's own forward of the layer, which gives the vectors that are trained, bit for bit
// those of decoding: keys and values of the prompt, and all rows of every step.
double ExactForwardOf(const DraftShape& shape, const Options& o) {
  double layer = 0, keys = 0, rows = 0;
  for (const DraftTensor& tensor : shape.tensors) {
    if (tensor.is_matrix()) layer += static_cast<double>(tensor.size());
  }
  if (shape.chain) {
    for (const WeightPart& part :
         {shape.chain->eh_proj, shape.chain->attention.k, shape.chain->attention.v}) {
      keys += static_cast<double>(part.rows * shape.tensors[part.tensor].columns());
    }
  }
  for (int d = 0; d < o.drafts; ++d) {
    rows += static_cast<double>(RowsOfStep(o.prompt, o.prompt + o.answer, d));
  }
  return 2 * (layer * rows + keys * static_cast<double>(o.prompt));
}

double PeakMemoryMib() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Times {
  std::vector<double> gradient, optimiser, repack;
};

nlohmann::ordered_json Measure(const Options& o) {
  const Snapshot snapshot = LoadSnapshot(o.model);
  const KernelTable kernels = BestKernels();
  std::optional<DraftShape> shape = snapshot.architecture->Draft();
  if (!shape) throw Error(ErrorKind::kUsage, {.file = o.model, .field = {}}, "drafts nothing");
  Parameters<float> parameters(*shape);
  Randomise(1, parameters);
  EngineDraft exact(snapshot, *shape, kernels, Precision::kF32);
  exact.Load(parameters);
  const double loaded_mib = PeakMemoryMib();
  const FrozenHead<float> head(
      exact.stored_head(), shape->logit_softcap, {},
      [&](ConstView<float> x, View<float> logits) { exact.Logits(x, logits); });
  BatchGradient<float> gradient(
      parameters, head, ChainOn::kNormed,
      [&](std::span<const TokenId> ids) { return exact.Embed(ids); },
      [&](const TrainingPage& page, std::vector<Matrix<float>>& vectors) {
        exact.Vectors(page, o.drafts, vectors);
      });
  AdamW<float> optimiser({}, parameters);
  const TrainingPage page = MakePage(o, snapshot.architecture->text());
  const TrainingPage* const pages[] = {&page};
  Objective objective;
  objective.step_weights = DecayingStepWeights(o.drafts);
  Times times;
  std::vector<Peaks> peaks;
  const int threads = AvailableCpus();
  for (int i = 0; i < o.repeats; ++i) {
    peaks.push_back(MeasurePeaks(kernels.name, false, threads));
    parameters.ClearGradients();
    int64_t start = MonotonicNs();
    gradient.Run(pages, objective);
    times.gradient.push_back(SecondsSince(start));
    start = MonotonicNs();
    optimiser.Step(parameters);
    times.optimiser.push_back(SecondsSince(start));
    start = MonotonicNs();
    exact.Load(parameters);
    times.repack.push_back(SecondsSince(start));
    peaks.push_back(MeasurePeaks(kernels.name, false, threads));
  }
  const auto median = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  const double operations = OperationsOf(*shape, o, snapshot.architecture->text().vocab_size);
  const double exact_operations = ExactForwardOf(*shape, o);
  const Peaks peak = MedianOf(peaks);
  const double seconds = median(times.gradient);
  return {{"prompt", o.prompt},
          {"answer", o.answer},
          {"drafts", o.drafts},
          {"threads", threads},
          {"kernels", kernels.name},
          {"blas_core", BlasCore()},
          {"gradient_s", times.gradient},
          {"optimiser_s", times.optimiser},
          {"repack_s", times.repack},
          {"gflop", operations / 1e9},
          {"gflop_of_exact_forward", exact_operations / 1e9},
          {"peak_gflops", peak.f32_gflops},
          {"share_of_peak", operations / 1e9 / seconds / peak.f32_gflops},
          {"share_of_peak_with_exact_forward",
           (operations + exact_operations) / 1e9 / seconds / peak.f32_gflops},
          {"memory_model_mib", loaded_mib},
          {"memory_peak_mib", PeakMemoryMib()}};
}

int Main(int argc, char** argv) {
  Options o;
  po::options_description all("draft_training");
  all.add_options()("help", "This text.")("model", po::value(&o.model)->required(), "Snapshot.")(
      "prompt", po::value(&o.prompt)->default_value(o.prompt), "Tokens of the prompt.")(
      "answer", po::value(&o.answer)->default_value(o.answer), "Tokens of the answer.")(
      "drafts", po::value(&o.drafts)->default_value(o.drafts), "Drafts of a chain.")(
      "repeats", po::value(&o.repeats)->default_value(o.repeats), "Steps that are timed.")(
      "json", po::value(&o.json), "Where to write the figures.");
  po::variables_map map;
  po::store(po::parse_command_line(argc, argv, all), map);
  if (map.contains("help")) {
    std::cout << all;
    return 0;
  }
  po::notify(map);
  const std::string text = Measure(o).dump(1) + "\n";
  std::cout << text;
  if (!o.json.empty()) ReplaceFile(o.json, text, Folder::Missing::kFail);
  return 0;
}

}  // namespace
}  // namespace platen::bench

int main(int argc, char** argv) {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);  // as platen-tune does
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  try {
    return platen::bench::Main(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "draft_training: " << e.what() << "\n";
    return 2;
  }
}
