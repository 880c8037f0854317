// What `platen doctor` foretells, against the model's own sizes and against pages that were timed.
#include "bench/forecast.h"

#include <gtest/gtest.h>

#include "model/families/glm_ocr/architecture.h"
#include "model/kernels/kernels.h"

namespace platen::bench {
namespace {

// The sizes of the released model, as tools/random_snapshot.py has them.
glm_ocr::Config ReleasedSizes() {
  glm_ocr::Config config;
  config.text.vocab_size = 59392;
  config.text.hidden_size = 1536;
  config.text.intermediate_size = 4608;
  config.text.num_layers = 16;
  config.text.num_mtp_layers = 1;
  config.text.num_heads = 16;
  config.text.num_kv_heads = 8;
  config.text.head_dim = 128;
  config.input.vision.depth = 24;
  config.input.vision.hidden_size = 1024;
  config.input.vision.num_heads = 16;
  config.input.vision.intermediate_size = 4096;
  config.input.vision.patch_size = 14;
  config.input.vision.temporal_patch_size = 2;
  config.input.vision.spatial_merge_size = 2;
  config.input.vision.out_hidden_size = 1536;
  return config;
}

TEST(ForecastTest, CountsAreThoseOfTheModel) {
  const ModelCounts counts = CountsOfGlmOcr();
  const ModelCounts model = CountsOf(glm_ocr::GlmOcr(ReleasedSizes(), "config.json"));
  EXPECT_EQ(counts.patch_weights, model.patch_weights);
  EXPECT_EQ(counts.image_token_weights, model.image_token_weights);
  EXPECT_EQ(counts.row_weights, model.row_weights);
  EXPECT_EQ(counts.head_weights, model.head_weights);
  EXPECT_EQ(counts.patches_per_token, model.patches_per_token);
  EXPECT_EQ(counts.vision_attention.operations_per_key(),
            model.vision_attention.operations_per_key());
  EXPECT_EQ(counts.text_attention.operations_per_key(), model.text_attention.operations_per_key());
  EXPECT_EQ(counts.cache.values_per_token(), model.cache.values_per_token());
}

// Peaks and core-seconds a page of bench/results/*-pages.json, medians, with int8 attention where
// there is some: what was measured lies in what is foretold.
TEST(ForecastTest, PagesThatWereTimedLieInTheRange) {
  struct Timed {
    const char* kernels;
    double int8_gops, f32_gflops, gbytes, core_seconds;
  };
  const Timed timed[] = {{"avx512-vnni", 472.9, 118.2, 31.0, 29.3},
                         {"avx512-vnni", 766.8, 178.9, 16.6, 20.2},
                         {"avx512-vnni", 670, 160, 18, 33.3},
                         {"amx", 5000, 160, 18, 17.5}};
  for (const Timed& t : timed) {
    Peaks peaks;
    peaks.int8_gops = t.int8_gops;
    peaks.f32_gflops = t.f32_gflops;
    peaks.dram_gbytes_per_s = t.gbytes;
    const Range pages = PagesPerHourWithGlmOcr(t.kernels, peaks, 1);
    EXPECT_LT(pages.low, 3600 / t.core_seconds) << t.kernels << " " << t.int8_gops;
    EXPECT_GT(pages.high, 3600 / t.core_seconds) << t.kernels << " " << t.int8_gops;
  }
}

TEST(ForecastTest, EveryKernelHasAShareButTheScalarOnes) {
  for (const char* name : kKernelNames) {
    EXPECT_EQ(MeasuredShareOfLimit(name).high > 0, std::string_view(name) != "scalar") << name;
  }
}

}  // namespace
}  // namespace platen::bench
