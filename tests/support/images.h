// Images in tests: from .npy arrays, and compared so that a failure names the worst sample.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "model/support/image.h"
#include "tests/support/npy.h"

namespace platen::testing {

// A uint8 array [height, width, 3].
inline Image ReadNpyImage(const std::string& path) {
  Npy npy = ReadNpy(path);
  if (npy.shape.size() != 3 || npy.shape[2] != 3 || npy.u8.empty()) {
    throw std::runtime_error(path + ": not a uint8 array [height, width, 3]");
  }
  Image image;
  image.width = static_cast<int>(npy.shape[1]);
  image.height = static_cast<int>(npy.shape[0]);
  image.rgb = std::move(npy.u8);
  return image;
}

// Success if no sample differs by more than `tolerance`. Otherwise names how many differ and the
// worst one: its position, channel and both values.
inline ::testing::AssertionResult SameImage(const Image& actual, const Image& expected,
                                            int tolerance = 0) {
  const auto size = [](const Image& i) {
    return std::to_string(i.width) + "x" + std::to_string(i.height);
  };
  if (actual.width != expected.width || actual.height != expected.height) {
    return ::testing::AssertionFailure()
           << "sizes differ: " << size(actual) << " instead of " << size(expected);
  }
  if (actual.rgb.size() != expected.rgb.size()) {
    return ::testing::AssertionFailure() << "the pixel buffer has " << actual.rgb.size()
                                         << " bytes instead of " << expected.rgb.size();
  }
  size_t num_different = 0;
  size_t worst_at = 0;
  int worst = 0;
  for (size_t i = 0; i < actual.rgb.size(); ++i) {
    const int difference = std::abs(actual.rgb[i] - expected.rgb[i]);
    if (difference > tolerance) ++num_different;
    if (difference > worst) {
      worst = difference;
      worst_at = i;
    }
  }
  if (num_different == 0) return ::testing::AssertionSuccess();
  const size_t pixel = worst_at / 3;
  const size_t width = static_cast<size_t>(actual.width);
  return ::testing::AssertionFailure()
         << num_different << " of " << actual.rgb.size() << " samples differ; worst at x "
         << pixel % width << ", y " << pixel / width << ", channel " << worst_at % 3 << ": "
         << int{actual.rgb[worst_at]} << " instead of " << int{expected.rgb[worst_at]};
}

}  // namespace platen::testing
