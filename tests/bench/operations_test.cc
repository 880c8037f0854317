// The counted work against what the model really multiplies, and limits against sums done by hand.
#include "bench/operations.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "bench/page_bench.h"
#include "model/engine/forward.h"
#include "model/engine/sequence.h"
#include "model/families/glm_ocr/architecture.h"
#include "model/families/model.h"
#include "model/ops/work_observer.h"

namespace platen::bench {
namespace {

// Adds up the operations of all products while it lives.
class GemmCounter : public WorkObserver {
 public:
  GemmCounter() { SetWorkObserver(this); }
  ~GemmCounter() override { SetWorkObserver(nullptr); }
  void OnGemm(const GemmCall& call, int64_t, int64_t) override {
    operations_ += 2 * call.rows * call.n * call.k;
  }
  void OnLoopBody(uint64_t, int64_t, int64_t) override {}

  // Since the last call.
  double Take() { return static_cast<double>(operations_.exchange(0)); }

 private:
  std::atomic<int64_t> operations_ = 0;
};

const Model& Mini() {
  static const Model model(
      std::make_unique<Snapshot>(LoadSnapshot(PLATEN_SOURCE_DIR "/assets/platen-mini")),
      BestKernels(), Precision::kInt8);
  return model;
}

std::unique_ptr<Sequence> Prepare(const Engine& engine, int width, int height) {
  Request request;
  request.images.push_back(Mini().vision()->Prepare(SyntheticImage(1, width, height)));
  request.task_text = "Text Recognition:";
  request.max_new_tokens = 5;
  request.ignore_stop = true;
  return engine.Prepare(std::move(request));
}

TEST(OperationsTest, LinearWorkIsWhatTheEngineMultiplies) {
  EngineOptions options;
  options.draft_length = 0;
  Engine engine(Mini(), options);
  auto first = Prepare(engine, 56, 28), second = Prepare(engine, 140, 84);
  const std::vector<Sequence*> batch = {first.get(), second.get()};
  const std::vector<int64_t> patches = {4 * 2, 10 * 6};
  const std::vector<int64_t> prompts = {first->prompt_len(), second->prompt_len()};
  const ModelCounts counts = CountsOf(Mini().architecture());

  GemmCounter counter;
  engine.EncodeImages(batch);
  EXPECT_EQ(VisionWork(counts, patches, Precision::kInt8, VisionAttention::kF32).linear,
            counter.Take());
  for (Sequence* s : batch) ASSERT_TRUE(engine.TryReserve(*s));
  engine.Prefill(batch);
  EXPECT_EQ(PrefillWork(counts, prompts, Precision::kInt8).linear, counter.Take());
  engine.Submit(std::move(first));
  engine.Submit(std::move(second));
  engine.Step();
  EXPECT_EQ(DecodeWork(counts, prompts, Precision::kInt8).linear, counter.Take());
}

// Of a model with experts: two of four, in both layers.
TEST(OperationsTest, OnlyChosenExpertsCount) {
  const Model model(
      std::make_unique<Snapshot>(LoadSnapshot(PLATEN_SOURCE_DIR "/tests/golden/minillm/mini-chat")),
      BestKernels(), Precision::kInt8);
  Engine engine(model, {});
  Request request;
  request.task_text = "Once upon a time";
  request.max_new_tokens = 5;
  request.ignore_stop = true;
  auto sequence = engine.Prepare(std::move(request));
  const std::vector<int64_t> prompts = {sequence->prompt_len()};
  const ModelCounts counts = CountsOf(model.architecture());
  EXPECT_EQ(counts.routed_share, 0.5);
  const std::vector<Sequence*> batch = {sequence.get()};
  ASSERT_TRUE(engine.TryReserve(*sequence));
  GemmCounter counter;
  engine.Prefill(batch);
  EXPECT_EQ(PrefillWork(counts, prompts, Precision::kInt8).linear, counter.Take());
  engine.Submit(std::move(sequence));
  engine.Step();
  EXPECT_EQ(DecodeWork(counts, prompts, Precision::kInt8).linear, counter.Take());
  // One row reads its two experts of four; of many rows some row reads each.
  const double all = counts.row_weights + counts.head_weights + counts.routed_weights;
  const double cache = DecodeWork(counts, std::vector<int64_t>{1}, Precision::kInt8).bytes -
                       (all - counts.routed_weights / 2);
  EXPECT_GT(cache, 0);
  EXPECT_NEAR(PrefillWork(counts, std::vector<int64_t>{60}, Precision::kInt8).bytes, all, 1e-6);
}

// Sequences that say the same choose the same experts, so what a step reads is counted in the step.
TEST(OperationsTest, AStepReadsTheExpertsThatItsRowsChose) {
  const Model model(
      std::make_unique<Snapshot>(LoadSnapshot(PLATEN_SOURCE_DIR "/tests/golden/minillm/mini-chat")),
      BestKernels(), Precision::kInt8);
  EngineOptions options;
  options.draft_length = 0;
  Engine engine(model, options);
  const ModelCounts counts = CountsOf(model.architecture());
  std::vector<int64_t> contexts;
  const auto add = [&](const char* text) {
    Request request;
    request.task_text = text;
    request.max_new_tokens = 5;
    request.ignore_stop = true;
    auto sequence = engine.Prepare(std::move(request));
    contexts.push_back(sequence->prompt_len());
    Sequence* one = sequence.get();
    ASSERT_TRUE(engine.TryReserve(*sequence));
    engine.Prefill(std::span(&one, 1));
    engine.Submit(std::move(sequence));
  };
  const auto step = [&] {
    const WeightsReadMeter meter;
    engine.Step();
    return meter.weights();
  };
  for (int i = 0; i < 3; ++i) add("Once");
  const double alike = step();  // as one row: two of four experts in each layer
  EXPECT_EQ(alike, counts.row_weights + counts.head_weights + counts.routed_weights / 2);
  const Work expected = DecodeWork(counts, contexts, Precision::kInt8);
  const Work read = DecodeWork(counts, contexts, Precision::kInt8, alike);
  EXPECT_EQ(read.linear, expected.linear);
  EXPECT_DOUBLE_EQ(expected.bytes - read.bytes, WeightsRead(counts, 3) - alike);
  for (const char* text : {"12 + 13", "a", "The quick brown fox", "Zebra"}) add(text);
  const double different = step();
  EXPECT_GT(different, alike);
  EXPECT_LE(different, counts.row_weights + counts.head_weights + counts.routed_weights);
}

// A model so small that its sums can be done by hand.
ModelCounts TinyModel() {
  glm_ocr::Config config;
  config.text.vocab_size = 10;
  config.text.hidden_size = 4;
  config.text.intermediate_size = 8;
  config.text.num_layers = 2;
  config.text.num_mtp_layers = 1;
  config.text.num_heads = 2;
  config.text.num_kv_heads = 1;
  config.text.head_dim = 16;
  config.input.vision.depth = 3;
  config.input.vision.hidden_size = 8;
  config.input.vision.num_heads = 2;
  config.input.vision.intermediate_size = 16;
  config.input.vision.patch_size = 2;
  config.input.vision.temporal_patch_size = 2;
  config.input.vision.spatial_merge_size = 2;
  config.input.vision.out_hidden_size = 4;
  return CountsOf(glm_ocr::GlmOcr(config, "config.json"));
}

// Query-key pairs of one head, counted one by one; each costs a product of two vectors of `dim` and
// as much again for the values.
double PairsTimesWork(int64_t queries, int64_t first_context, bool causal, int64_t dim) {
  double work = 0;
  for (int64_t q = 0; q < queries; ++q) {
    const int64_t keys = causal ? first_context + q : first_context;
    for (int64_t k = 0; k < keys; ++k) work += 2 * 2 * static_cast<double>(dim);
  }
  return work;
}

TEST(OperationsTest, AttentionWorkIsEveryPairOnce) {
  const ModelCounts counts = TinyModel();
  const std::vector<int64_t> patches = {4, 12};
  const Work f32 = VisionWork(counts, patches, Precision::kInt8, VisionAttention::kF32);
  const Work int8 = VisionWork(counts, patches, Precision::kInt8, VisionAttention::kInt8);
  EXPECT_EQ(f32.int8_attention, 0);
  EXPECT_EQ(f32.attention,
            3 * 2 * (PairsTimesWork(4, 4, false, 4) + PairsTimesWork(12, 12, false, 4)));
  EXPECT_EQ(int8.attention, 0);
  EXPECT_EQ(int8.int8_attention, f32.attention);
  EXPECT_EQ(PrefillWork(counts, std::vector<int64_t>{5, 1}, Precision::kF32).attention,
            2 * 2 * (PairsTimesWork(5, 1, true, 16) + PairsTimesWork(1, 1, true, 16)));
  EXPECT_EQ(DecodeWork(counts, std::vector<int64_t>{7, 3}, Precision::kF32).attention,
            2 * 2 * (PairsTimesWork(1, 7, false, 16) + PairsTimesWork(1, 3, false, 16)));
}

TEST(OperationsTest, EveryWeightAndEveryCachedTokenIsReadOnce) {
  const ModelCounts counts = TinyModel();
  // Per layer: qkv 4 x (32 + 2 x 16), output 32 x 4, gate, up and down 3 x 4 x 8; head 4 x 10.
  const double text = 2 * (4 * 64 + 32 * 4 + 3 * 4 * 8) + 4 * 10;
  const std::vector<int64_t> contexts = {7, 3};
  EXPECT_EQ(PrefillWork(counts, contexts, Precision::kInt8).bytes, text);
  EXPECT_EQ(PrefillWork(counts, contexts, Precision::kF32).bytes, 4 * text);
  // The cache of the draft layer is not read: two layers of three.
  const auto token = static_cast<double>(KvPool::TokenBytes(counts.cache, KvType::kBf16));
  EXPECT_DOUBLE_EQ(DecodeWork(counts, contexts, Precision::kInt8).bytes, text + 10 * token);
  // Patches 24 x 8; per block qkv and output 4 x 8 x 8, SwiGLU 3 x 8 x 16; then four patches to a
  // token 32 x 4, 4 x 4, SwiGLU 3 x 4 x 12.
  const double vision = 24 * 8 + 3 * (4 * 64 + 3 * 8 * 16) + 32 * 4 + 16 + 3 * 4 * 12;
  EXPECT_EQ(
      VisionWork(counts, std::vector<int64_t>{4}, Precision::kInt8, VisionAttention::kF32).bytes,
      vision);
}

TEST(OperationsTest, TheLimitIsTheSlowerOfComputingAndReading) {
  const Work work = {.linear = 6e9, .attention = 1e9, .bytes = 5e9};
  Peaks peaks;
  peaks.int8_gops = 3;
  peaks.f32_gflops = 0.5;
  peaks.dram_gbytes_per_s = 1;
  const Limit int8 = LimitOf(work, peaks, Precision::kInt8);
  EXPECT_DOUBLE_EQ(int8.compute_s, 2 + 2);
  EXPECT_DOUBLE_EQ(int8.seconds(), 5);
  EXPECT_STREQ(int8.bound(), "memory");
  const Limit f32 = LimitOf(work, peaks, Precision::kF32);
  EXPECT_DOUBLE_EQ(f32.seconds(), 12 + 2);
  EXPECT_STREQ(f32.bound(), "compute");
  const Work integers = {.linear = 6e9, .int8_attention = 1.5e9};
  EXPECT_DOUBLE_EQ(LimitOf(integers, peaks, Precision::kInt8).seconds(), 2 + 0.5);
  EXPECT_DOUBLE_EQ(LimitOf(integers, peaks, Precision::kF32).seconds(), 12 + 0.5);
  peaks.cache_bytes = 5e9;  // all of it fits
  EXPECT_DOUBLE_EQ(LimitOf(work, peaks, Precision::kInt8).seconds(), 4);
}

TEST(PageLimitTest, StepsThatPagesShareReadTheWeightsOnce) {
  const ModelCounts counts = TinyModel();
  PageShape shape;
  shape.patches = {4, 4};
  shape.prompts = {5, 6};
  shape.output_tokens = 2 * 3;
  Peaks peaks;
  peaks.int8_gops = peaks.f32_gflops = 1e6;  // reading alone counts
  peaks.dram_gbytes_per_s = 1;
  const double alone =
      LimitOfPage(counts, shape, 2, peaks, Precision::kInt8, VisionAttention::kF32).decode.memory_s;
  const double shared =
      LimitOfPage(counts, shape, 1, peaks, Precision::kInt8, VisionAttention::kF32).decode.memory_s;
  const Work first = DecodeWork(counts, std::vector<int64_t>{6, 7}, Precision::kInt8);
  const Work second = DecodeWork(counts, std::vector<int64_t>{7, 8}, Precision::kInt8);
  EXPECT_DOUBLE_EQ(alone, 1e-9 * (first.bytes + second.bytes));
  EXPECT_DOUBLE_EQ(alone - shared, 1e-9 * DecodeWork(counts, {}, Precision::kInt8).bytes);
}

TEST(PageShapeTest, AtOneHundredAndFiftyDpiAPageIsTheFixedWorkload) {
  // platen-mini shrinks large crops; these fit GLM-OCR's limits and its own alike.
  const PageShape shape = ShapeOf(Mini(), PageWorkload());
  EXPECT_EQ(shape.image_tokens, 2200);
  EXPECT_EQ(shape.output_tokens, 700);
  EXPECT_EQ(shape.patches, std::vector<int64_t>(20, 440));
}

}  // namespace
}  // namespace platen::bench
