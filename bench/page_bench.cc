#include "bench/page_bench.h"

#include <time.h>

#include <chrono>
#include <memory>

#include "model/forward.h"
#include "model/sequence.h"

namespace platen::bench {
namespace {

double WallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double CoreSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Adds the time from construction to destruction.
class Stopwatch {
 public:
  Stopwatch(double& wall, double& core)
      : wall_(wall), core_(core), wall_start_(WallSeconds()), core_start_(CoreSeconds()) {}
  ~Stopwatch() {
    wall_ += WallSeconds() - wall_start_;
    core_ += CoreSeconds() - core_start_;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& wall_;
  double& core_;
  double wall_start_, core_start_;
};

PageCost ReadPage(const Model& model, Engine& engine, const PageWorkload& workload) {
  const ImageProcessor processor(model.config().image_processor);
  std::vector<std::unique_ptr<Sequence>> owned;
  std::vector<Sequence*> batch;
  for (int i = 0; i < workload.crops; ++i) {
    Request request;
    request.images.push_back(processor.Prepare(
        SyntheticImage(static_cast<uint64_t>(i), workload.crop_width, workload.crop_height)));
    request.task_text = "Text Recognition:";
    request.max_new_tokens = workload.tokens_per_crop;
    request.ignore_stop = true;
    owned.push_back(engine.Prepare(std::move(request)));
    batch.push_back(owned.back().get());
  }
  PageCost cost;
  {
    const Stopwatch watch(cost.vision_wall, cost.vision_core);
    engine.EncodeImages(batch);
  }
  {
    const Stopwatch watch(cost.prefill_wall, cost.prefill_core);
    for (Sequence* s : batch) {
      if (!engine.TryReserve(*s)) throw std::bad_alloc();
    }
    engine.Prefill(batch);
  }
  const Stopwatch watch(cost.decode_wall, cost.decode_core);
  for (auto& s : owned) engine.Submit(std::move(s));
  while (engine.live() > 0) engine.Step();
  return cost;
}

// Room for every crop's prompt, answer and drafts.
int64_t CacheBytes(const Model& model, const PageWorkload& workload) {
  constexpr int64_t kPromptAndMargin = 256;
  const int64_t tokens = workload.crops * (workload.tokens_per_crop + kPromptAndMargin);
  return tokens * KvPool::TokenBytes(model.config().text, KvTypeOf(model.precision()));
}

}  // namespace

PageOperations CountOperations(const ModelConfig& config, const PageWorkload& workload) {
  const ImageProcessor processor(config.image_processor);
  const ResizeTarget target =
      SmartResize(workload.crop_width, workload.crop_height, config.image_processor);
  const int side = config.image_processor.patch_size;
  const double patches = static_cast<double>(target.width / side) * (target.height / side);
  const VisionConfig& v = config.vision;
  const TextConfig& t = config.text;
  const double c = v.hidden_size;
  const double d = t.hidden_size;
  const double crops = workload.crops;

  PageOperations ops;
  ops.image_tokens = static_cast<int>(crops * patches / 4);
  const double block = c * 3 * c + c * c + 3 * c * v.intermediate_size;
  const double tail = 4 * c * d + d * d + 3 * d * v.merger_intermediate_size();
  ops.vision_linear =
      2 * crops * (patches * (v.patch_values() * c + v.depth * block) + patches / 4 * tail);
  ops.vision_attention = 4 * crops * patches * patches * c * v.depth;

  const double layer =
      d * (t.q_size() + 2 * t.kv_size()) + t.q_size() * d + 3 * d * t.intermediate_size;
  const double head = d * t.vocab_size;
  constexpr double kPromptText = 12;
  const double prompt = patches / 4 + kPromptText;
  const double draft = workload.draft_length > 0 ? 2 * d * d + layer : 0;
  ops.prefill_linear = 2 * crops * (prompt * (t.num_layers * layer + draft) + head);
  ops.decode_linear = 2 * crops * (workload.tokens_per_crop - 1) * (t.num_layers * layer + head);
  return ops;
}

double LimitSeconds(const PageOperations& ops, const Peaks& peaks, Precision precision) {
  const double linear = ops.vision_linear + ops.prefill_linear + ops.decode_linear;
  const double rate = precision == Precision::kInt8 ? peaks.int8_gops : peaks.f32_gflops;
  return linear / (rate * 1e9) + ops.vision_attention / (peaks.f32_gflops * 1e9);
}

std::vector<PageCost> RunPageBench(const Model& model, const PageWorkload& workload,
                                   int repetitions) {
  EngineOptions options;
  options.draft_length = workload.draft_length;
  options.kv_cache_bytes = CacheBytes(model, workload);
  Engine engine(model, options);
  ReadPage(model, engine, workload);
  std::vector<PageCost> costs;
  for (int i = 0; i < repetitions; ++i) costs.push_back(ReadPage(model, engine, workload));
  return costs;
}

}  // namespace platen::bench
