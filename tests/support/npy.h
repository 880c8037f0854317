// Reads .npy arrays and compares float arrays in tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace platen::testing {

// A .npy file (little endian, C order; f4, f8, i4, i8, u1). Values are widened to the member that
// fits the dtype; the other members stay empty.
struct Npy {
  std::vector<int64_t> shape;
  std::vector<float> f32;
  std::vector<double> f64;
  std::vector<int64_t> i64;  // also from int32
  std::vector<uint8_t> u8;
};

// Throws std::runtime_error naming the file for anything it does not understand.
Npy ReadNpy(const std::string& path);

// Success if |actual - expected| <= atol everywhere. Otherwise names the worst element, its index
// and both values. NaN never compares as close; sizes must be equal.
::testing::AssertionResult AllClose(std::span<const float> actual, std::span<const float> expected,
                                    double atol);

// Path below the repository root.
std::string SourcePath(const std::string& relative);

}  // namespace platen::testing
