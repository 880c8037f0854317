// The resize with four taps against vectors of torchvision, byte for byte.
#include "model/ops/resize_image.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/support/mapped_file.h"
#include "tests/support/images.h"

namespace platen {
namespace {

const std::string kVectors = "tests/golden/pp_doclayout/preprocess/";

TEST(ResizeWithFourTaps, EqualsTorchvisionByteForByteOnEveryVector) {
  const auto json =
      nlohmann::json::parse(ReadSmallFile(testing::SourcePath(kVectors + "resize.json"), 1 << 20));
  ASSERT_EQ(json["vectors"].size(), 10U);
  for (const auto& vector : json["vectors"]) {
    const auto image = [&](const char* key) {
      return testing::ReadNpyImage(testing::SourcePath(kVectors + vector[key].get<std::string>()));
    };
    const Image expected = image("out");
    const Image actual =
        ResizeBicubic(image("in"), expected.width, expected.height, Bicubic::kFourTaps);
    EXPECT_TRUE(testing::SameImage(actual, expected)) << vector["in"];
  }
}

}  // namespace
}  // namespace platen
