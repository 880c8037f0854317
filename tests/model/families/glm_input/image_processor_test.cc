// The image processor against the reference: every expected value here was computed by transformers
// and torch (tests/golden/README.md).
#include "model/families/glm_input/image_processor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "model/ops/resize_image.h"
#include "model/support/error.h"
#include "tests/support/images.h"
#include "tests/support/npy.h"

namespace platen::glm_input {
namespace {

using ::platen::testing::AllClose;
using ::platen::testing::ReadNpy;
using ::platen::testing::ReadNpyImage;
using ::platen::testing::SameImage;
using ::platen::testing::SourcePath;

const std::string kPreprocess = "tests/golden/preprocess/";

// The released model's values.
ImageProcessorConfig RealConfig() {
  ImageProcessorConfig config;
  config.min_pixels = 12544;
  config.max_pixels = 9633792;
  config.patch_size = 14;
  config.temporal_patch_size = 2;
  config.merge_size = 2;
  config.mean = {0.48145466, 0.4578275, 0.40821073};
  config.std = {0.26862954, 0.26130258, 0.27577711};
  return config;
}

nlohmann::json ReadJson(const std::string& relative) {
  std::ifstream in(SourcePath(relative));
  return nlohmann::json::parse(in);
}

std::string ErrorOf(int width, int height) {
  try {
    SmartResize(width, height, RealConfig());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "";
}

TEST(SmartResize, EqualsTheReferenceOnItsWholeTable) {
  const nlohmann::json table = ReadJson(kPreprocess + "smart_resize.json");
  ASSERT_EQ(table["rows"].size(), 240U);
  for (const auto& row : table["rows"]) {
    SCOPED_TRACE(row.dump());
    const int width = row[0];
    const int height = row[1];
    if (row[2].is_null()) {
      EXPECT_NE(ErrorOf(width, height), "");
    } else {
      EXPECT_EQ(SmartResize(width, height, RealConfig()),
                (ResizeTarget{row[2].get<int>(), row[3].get<int>()}));
    }
  }
}

TEST(SmartResize, RefusesEmptyAndVeryThinImages) {
  EXPECT_NE(ErrorOf(0, 10).find("empty"), std::string::npos);
  EXPECT_NE(ErrorOf(10, -1).find("empty"), std::string::npos);
  EXPECT_NE(ErrorOf(1, 201).find("1x201"), std::string::npos);
}

TEST(SmartResize, LargestSidesDoNotOverflow) {
  EXPECT_NE(ErrorOf(2147483647, 1).find("too long"), std::string::npos);
  const ResizeTarget target = SmartResize(2147483647, 2147483647, RealConfig());
  EXPECT_EQ(target, (ResizeTarget{2184, 2184}));
}

// The input of one resize vector: an array, or pix(y, x, c) = (37x + 91y + 17xy + 53c) mod 256.
Image VectorInput(const nlohmann::json& vector) {
  if (vector.contains("input")) {
    return ReadNpyImage(SourcePath(kPreprocess + vector["input"].get<std::string>()));
  }
  Image image(vector["in"][0], vector["in"][1]);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        image.Row(y)[3 * x + c] = static_cast<uint8_t>(37 * x + 91 * y + 17 * x * y + 53 * c);
      }
    }
  }
  return image;
}

TEST(ResizeBicubic, EqualsTorchByteForByteOnEveryVector) {
  const nlohmann::json table = ReadJson(kPreprocess + "resize.json");
  ASSERT_EQ(table["vectors"].size(), 15U);
  for (const auto& vector : table["vectors"]) {
    SCOPED_TRACE(vector["name"].get<std::string>());
    const Image resized = ResizeBicubic(VectorInput(vector), vector["out"][0], vector["out"][1]);
    EXPECT_TRUE(SameImage(
        resized, ReadNpyImage(SourcePath(kPreprocess + vector["expected"].get<std::string>()))));
  }
}

TEST(ResizeBicubic, AFlatImageStaysFlat) {
  Image flat(37, 53);
  std::fill(flat.rgb.begin(), flat.rgb.end(), uint8_t{200});
  for (const auto& [width, height] : {std::pair{5, 300}, std::pair{111, 7}, std::pair{1, 1}}) {
    const Image resized = ResizeBicubic(flat, width, height);
    EXPECT_EQ(std::set<uint8_t>(resized.rgb.begin(), resized.rgb.end()), std::set<uint8_t>{200});
  }
}

TEST(ImageProcessor, NormalisesEveryLevelAsTorchvisionDoes) {
  // One patch row shows 14 x 14 pixels: levels 0..255 need two patches of a 28 x 28 image.
  const ImageProcessor processor(RealConfig());
  PreparedImage image{Image(28, 28), {2, 2}};
  for (int y = 0; y < 28; ++y) {
    for (int x = 0; x < 28 * 3; ++x) image.pixels.Row(y)[x] = static_cast<uint8_t>(y * 28 + x / 3);
  }
  std::vector<float> rows(4 * static_cast<size_t>(processor.patch_values()));
  processor.WritePatches(image, rows);
  std::vector<float> table(3 * 256);
  for (size_t y = 0; y < 28; ++y) {
    for (size_t x = 0; x < 28; ++x) {
      const size_t patch = y / 14 * 2 + x / 14;
      for (size_t c = 0; c < 3; ++c) {
        table[c * 256 + (y * 28 + x) % 256] = rows[patch * 1176 + c * 392 + (y % 14) * 14 + x % 14];
      }
    }
  }
  EXPECT_TRUE(AllClose(table, ReadNpy(SourcePath(kPreprocess + "normalise.npy")).f32, 0));
}

// Every input image of the reference cases, from its decoded array to its patch rows.
class PixelValues : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(PixelValues, EqualTheReferenceForEveryImage) {
  ImageProcessorConfig config = RealConfig();
  config.min_pixels = GetParam().first;
  config.max_pixels = GetParam().second;
  const ImageProcessor processor(config);
  const std::string folder = "tests/golden/pixels/" + std::to_string(config.min_pixels) + "-" +
                             std::to_string(config.max_pixels) + "/";
  for (const char* name : {"tiny20", "tall30x400", "gray", "rgba", "exif6", "palette", "gray16"}) {
    SCOPED_TRACE(name);
    const testing::Npy expected = ReadNpy(SourcePath(folder + name + ".npy"));
    const PreparedImage image = processor.Prepare(
        ReadNpyImage(SourcePath("tests/golden/images/decoded/" + std::string(name) + ".npy")));
    ASSERT_EQ(image.grid.num_patches(), expected.shape[0]);
    ASSERT_EQ(processor.patch_values(), expected.shape[1]);
    std::vector<float> rows(expected.f32.size());
    processor.WritePatches(image, rows);
    EXPECT_TRUE(AllClose(rows, expected.f32, 0));
  }
}

INSTANTIATE_TEST_SUITE_P(BothPixelLimits, PixelValues,
                         ::testing::Values(std::pair{12544, 9633792}, std::pair{9000, 16000}));

}  // namespace
}  // namespace platen::glm_input
