#include "bench/model_bench.h"

#include <tbb/task_arena.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <random>

#include "model/engine/forward.h"
#include "model/engine/sequence.h"
#include "model/support/clock.h"

namespace platen::bench {
namespace {

constexpr int64_t kDecodePrompt = 128;  // tokens before the first generated one
constexpr int kStepsPerRepetition = 4;  // decode: steps timed together
constexpr int kWatchedSteps = 1;        // and those behind them whose weights are counted
constexpr int64_t kSequences[] = {1, 4, 8, 16, 32};
constexpr int64_t kPrompts[] = {64, 512};
struct ImageSize {
  int rows, columns;  // of patches
};
constexpr ImageSize kImages[] = {{16, 16}, {32, 32}, {60, 80}};

// One timed pass.
struct Pass {
  double seconds = 0;
  Work work;
  double context = 0;
  double weights_read = 0;
};

double Timed(const std::function<void()>& call) {
  const int64_t start_ns = MonotonicNs();
  call();
  return SecondsSince(start_ns);
}

class ModelBench {
 public:
  ModelBench(const Model& model, const ModelBenchOptions& options)
      : model_(model),
        counts_(CountsOf(model.architecture())),
        options_(options),
        engine_(model, MakeEngineOptions()) {
    for (const int threads : options.threads) memory_.emplace(threads, threads);
  }

  std::vector<ModelRow> Run() {
    for (const ModelPhase phase : options_.phases) {
      if (phase == ModelPhase::kVision) RunVision();
      if (phase == ModelPhase::kPrefill) RunPrefill();
      if (phase == ModelPhase::kDecode) RunDecode();
    }
    return std::move(rows_);
  }

 private:
  int64_t StepsAtMost() const {
    return static_cast<int64_t>(std::size(kSequences)) * (options_.repetitions + 1) *
           (kStepsPerRepetition + kWatchedSteps) * static_cast<int64_t>(options_.threads.size());
  }

  EngineOptions MakeEngineOptions() const {
    constexpr int64_t kMargin = 64;  // ends of blocks
    const int64_t tokens =
        kSequences[std::size(kSequences) - 1] * (kDecodePrompt + StepsAtMost() + kMargin) +
        kPrompts[1] + kMargin;
    EngineOptions options;
    options.draft_length = 0;
    options.kv_cache_bytes = tokens * KvPool::TokenBytes(model_.architecture().text().cache,
                                                         KvTypeOf(model_.precision()));
    return options;
  }

  std::unique_ptr<Sequence> Prepare(std::vector<PreparedImage> images, std::string text) const {
    Request request;
    request.images = std::move(images);
    request.task_text = std::move(text);
    request.max_new_tokens = static_cast<int>(StepsAtMost()) + 1;
    request.ignore_stop = true;
    return engine_.Prepare(std::move(request));
  }

  // A prompt of so many tokens, without images, that no other `seed` has: the same prompts would
  // generate the same tokens and choose the same experts. Every tokenizer makes a control character
  // one token.
  std::unique_ptr<Sequence> Prompt(int64_t tokens, uint32_t seed) const {
    const int64_t around = Prepare({}, "\x01")->prompt_len() - 1;
    std::string text(static_cast<size_t>(std::max<int64_t>(1, tokens - around)), '\x01');
    std::mt19937 random(seed);
    for (char& c : text) c = static_cast<char>(1 + random() % 8);
    return Prepare({}, std::move(text));
  }

  void Prefill(Sequence& sequence) {
    if (!engine_.TryReserve(sequence)) throw std::bad_alloc();
    Sequence* one = &sequence;
    engine_.Prefill(std::span(&one, 1));
  }

  void RunVision();
  void RunPrefill();
  void RunDecode();
  Pass Decode(const std::vector<const Sequence*>& live);
  void Measure(ModelPhase phase, int64_t size, const std::function<Pass()>& pass);

  const Model& model_;
  const ModelCounts counts_;
  const ModelBenchOptions& options_;
  Engine engine_;
  std::map<int, MemoryMeter> memory_;
  std::vector<ModelRow> rows_;
};

void ModelBench::RunVision() {
  if (model_.vision() == nullptr) return;  // it reads text only
  const VisionModel& vision = *model_.vision();
  const int side = model_.architecture().vision()->patch_size;
  for (const ImageSize& size : kImages) {
    PreparedImage image = vision.Prepare(SyntheticImage(7, size.columns * side, size.rows * side));
    const int64_t patches = image.grid.num_patches();
    if (patches != size.rows * size.columns) continue;
    const auto sequence = Prepare({std::move(image)}, "Text Recognition:");
    const Work work = VisionWork(counts_, {&patches, 1}, model_.precision(), model_.attention());
    Measure(ModelPhase::kVision, patches, [&] {
      Sequence* one = sequence.get();
      return Pass{Timed([&] { engine_.EncodeImages(std::span(&one, 1)); }), work, 0};
    });
  }
}

void ModelBench::RunPrefill() {
  for (const int64_t wanted : kPrompts) {
    const int64_t tokens = Prompt(wanted, 0)->prompt_len();
    const Work work = PrefillWork(counts_, {&tokens, 1}, model_.precision());
    Measure(ModelPhase::kPrefill, tokens, [&] {
      const auto sequence = Prompt(tokens, 0);
      const double seconds = Timed([&] { Prefill(*sequence); });
      engine_.Discard(*sequence);
      return Pass{seconds, work, 0};
    });
  }
}

// The batch grows from one size to the next; sequences that live already go on.
void ModelBench::RunDecode() {
  std::vector<const Sequence*> live;
  for (const int64_t size : kSequences) {
    while (std::ssize(live) < size) {
      auto sequence = Prompt(kDecodePrompt, static_cast<uint32_t>(live.size()));
      Prefill(*sequence);
      live.push_back(sequence.get());
      engine_.Submit(std::move(sequence));
    }
    Measure(ModelPhase::kDecode, size, [&] { return Decode(live); });
  }
}

Pass ModelBench::Decode(const std::vector<const Sequence*>& live) {
  std::vector<int64_t> contexts;
  for (const Sequence* s : live) contexts.push_back(s->cache_len + 1 + kStepsPerRepetition / 2);
  Pass pass;
  pass.context =
      static_cast<double>(std::accumulate(contexts.begin(), contexts.end(), int64_t{0})) /
      static_cast<double>(contexts.size());
  pass.seconds = Timed([&] {
                   for (int i = 0; i < kStepsPerRepetition; ++i) engine_.Step();
                 }) /
                 kStepsPerRepetition;
  const WeightsReadMeter meter;
  for (int i = 0; i < kWatchedSteps; ++i) engine_.Step();
  pass.weights_read = meter.weights() / kWatchedSteps;
  pass.work = DecodeWork(counts_, contexts, model_.precision(), pass.weights_read);
  return pass;
}

// What the repetitions of one row gave.
struct Samples {
  std::vector<Pass> passes;
  std::vector<Peaks> peaks;
  std::optional<int> busy_neighbour;

  double Median(const std::function<double(const Pass&)>& value) const {
    std::vector<double> values;
    for (const Pass& pass : passes) values.push_back(value(pass));
    return SpreadOf(values).median;
  }
  Spread Seconds() const {
    std::vector<double> seconds;
    for (const Pass& pass : passes) seconds.push_back(pass.seconds);
    return SpreadOf(seconds);
  }
  Work MedianWork() const {
    return {Median([](const Pass& p) { return p.work.linear; }),
            Median([](const Pass& p) { return p.work.attention; }),
            Median([](const Pass& p) { return p.work.int8_attention; }),
            Median([](const Pass& p) { return p.work.bytes; })};
  }
};

ModelRow MakeRow(ModelPhase phase, int64_t size, int threads, const Samples& samples,
                 Precision precision) {
  ModelRow row;
  row.phase = phase;
  row.size = size;
  row.context = static_cast<int64_t>(samples.Median([](const Pass& p) { return p.context; }));
  row.weights_read = samples.Median([](const Pass& p) { return p.weights_read; });
  row.threads = threads;
  row.seconds = samples.Seconds();
  row.per_second = static_cast<double>(size) / row.seconds.median;
  row.peaks = MedianOf(samples.peaks);
  const Limit limit = LimitOf(samples.MedianWork(), row.peaks, precision);
  row.limit_seconds = limit.seconds();
  row.bound = limit.bound();
  row.share = row.limit_seconds / row.seconds.median;
  row.busy_neighbour = samples.busy_neighbour;
  return row;
}

void ModelBench::Measure(ModelPhase phase, int64_t size, const std::function<Pass()>& pass) {
  const std::vector<int>& threads = options_.threads;
  std::vector<Samples> samples(threads.size());
  const auto measure_peaks = [&](size_t i) {
    Peaks peaks = MeasurePeaks(model_.kernels().name, false, threads[i]);
    peaks.dram_gbytes_per_s = memory_.at(threads[i]).GbytesPerSecond();
    samples[i].peaks.push_back(peaks);
  };
  pass();  // warm up, with all threads
  for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
    for (size_t i = 0; i < threads.size(); ++i) {
      measure_peaks(i);
      tbb::task_arena arena(threads[i]);
      arena.execute([&] { samples[i].passes.push_back(pass()); });
      if (const std::optional<bool> busy = NeighbourIsBusy()) {
        samples[i].busy_neighbour = samples[i].busy_neighbour.value_or(0) + (*busy ? 1 : 0);
      }
      measure_peaks(i);
    }
  }
  for (size_t i = 0; i < threads.size(); ++i) {
    rows_.push_back(MakeRow(phase, size, threads[i], samples[i], model_.precision()));
  }
}

}  // namespace

const char* PhaseName(ModelPhase phase) {
  static constexpr const char* kNames[] = {"vision", "prefill", "decode"};
  return kNames[static_cast<size_t>(phase)];
}

std::vector<ModelRow> RunModelBench(const Model& model, const ModelBenchOptions& options) {
  return ModelBench(model, options).Run();
}

}  // namespace platen::bench
