// Attention of the image encoder in each arithmetic: the same bits with every kernel table, alone
// and beside other images, on any number of threads.
#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>

#include "model/checkpoint/weight_source.h"
#include "model/families/glm_input/vision.h"
#include "model/families/glm_ocr/modules.h"
#include "tests/support/glm_ocr.h"
#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr const char* kImages[] = {"exif6.jpg", "tall30x400.png", "gray.png"};

class EncoderAttentionKinds
    : public ::testing::TestWithParam<std::tuple<const char*, VisionAttention>> {
 protected:
  EncoderAttentionKinds() {
    for (const char* file : kImages) {
      images_.push_back(model_.vision()->Prepare(GoldenImage(file)));
    }
  }

  // Embeddings of images [first, first + count) in one call.
  std::vector<float> Encode(const KernelTable& kernels, VisionAttention attention, size_t first,
                            size_t count) const {
    const glm_ocr::Config& config = GlmConfig(model_);
    glm_ocr::BoundModules modules = glm_ocr::DescribeModules(config);
    CheckpointSource source(Precision::kF32);
    LoadModules(modules.table, model_.snapshot().checkpoint, source);
    const glm_input::VisionEncoder encoder(config.input.vision, config.input.image_processor,
                                           modules.weights->vision, kernels, attention);
    std::vector<const PreparedImage*> batch;
    int64_t tokens = 0;
    for (size_t i = first; i < first + count; ++i) {
      batch.push_back(&images_[i]);
      tokens += images_[i].grid.num_image_tokens();
    }
    Mat out(tokens, model_.architecture().text().hidden_size);
    glm_input::VisionWorkspace ws;
    encoder.Encode(batch, ws, out.View(), {});
    return {out.span().begin(), out.span().end()};
  }

  const Model& model_ = GoldenModel(std::get<0>(GetParam()));
  const VisionAttention attention_ = std::get<1>(GetParam());
  std::vector<PreparedImage> images_;
};

TEST_P(EncoderAttentionKinds, EveryKernelTableGivesTheSameBitsAloneAndInABatch) {
  const auto expected = Encode(*FindKernels("scalar"), attention_, 0, std::size(kImages));
  for (const char* name : kKernelNames) {
    const KernelTable* table = FindKernels(name);
    if (table == nullptr) continue;
    std::vector<float> alone;
    for (size_t i = 0; i < std::size(kImages); ++i) {
      const std::vector<float> one = Encode(*table, attention_, i, 1);
      alone.insert(alone.end(), one.begin(), one.end());
    }
    EXPECT_EQ(alone, expected) << name;
    EXPECT_EQ(Encode(*table, attention_, 0, std::size(kImages)), expected) << name;
  }
}

TEST_P(EncoderAttentionKinds, ThreadsChangeNothing) {
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 3}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(threads));
    tbb::task_arena arena(threads);
    arena.execute(
        [&] { results.push_back(Encode(BestKernels(), attention_, 0, std::size(kImages))); });
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_P(EncoderAttentionKinds, ExactIntegersAreNearF32ButNotTheSame) {
  const auto f32 = Encode(BestKernels(), VisionAttention::kF32, 0, std::size(kImages));
  const auto int8 = Encode(BestKernels(), VisionAttention::kInt8, 0, std::size(kImages));
  ASSERT_EQ(f32.size(), int8.size());
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < f32.size(); ++i) {
    difference += std::pow(static_cast<double>(f32[i]) - int8[i], 2);
    size += std::pow(static_cast<double>(f32[i]), 2);
  }
  EXPECT_GT(difference, 0);
  EXPECT_LT(std::sqrt(difference / size), 0.02);
}

INSTANTIATE_TEST_SUITE_P(Snapshots, EncoderAttentionKinds,
                         ::testing::Combine(::testing::Values("tiny-a", "tiny-b", "tiny-c"),
                                            ::testing::Values(VisionAttention::kF32,
                                                              VisionAttention::kInt8)),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param);
                           name[4] = '_';
                           return name + "_" + VisionAttentionName(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace platen::testing
