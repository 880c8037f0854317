// Bicubic resize in 8-bit fixed point: a horizontal pass, a rounded 8-bit intermediate image, a
// vertical pass. Source of the arithmetic: torch's uint8 CPU kernel (upsample_bicubic2d_aa).
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <vector>

#include "model/families/glm_ocr/image_processor.h"

namespace platen::glm_ocr {
namespace {

// Keys cubic with a = -0.5.
double CubicKernel(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  if (x < 2) return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
  return 0;
}

// Weights of one axis: output i is the sum of weight[i][j] * input[first[i] + j] over j < count[i],
// divided by 2^precision.
struct AxisWeights {
  std::vector<int> first;
  std::vector<int> count;
  std::vector<int16_t> weights;  // [outputs, stride]
  int stride = 0;
  int precision = 0;

  const int16_t* Row(int i) const {
    return weights.data() + static_cast<size_t>(i) * static_cast<size_t>(stride);
  }
};

// The finest precision at which the largest weight of the axis still fits 16 bits.
int ChoosePrecision(double largest_weight) {
  constexpr int kMaxPrecision = 22;
  for (int precision = 0; precision < kMaxPrecision; ++precision) {
    const int next = static_cast<int>(0.5 + largest_weight * (1 << (precision + 1)));
    if (next >= (1 << 15)) return precision;
  }
  return kMaxPrecision;
}

// Real-valued weights of output `i`, normalised to sum 1, appended at `out`; returns how many.
int ComputeWeights(int i, int in_size, double scale, double support, int max_count, double* out,
                   int* first) {
  const double inverse = scale >= 1 ? 1 / scale : 1;
  const double centre = scale * (i + 0.5);
  const int lo = std::max(static_cast<int>(centre - support + 0.5), 0);
  const int hi = std::min(static_cast<int>(centre + support + 0.5), in_size);
  const int count = std::clamp(hi - lo, 0, max_count);
  double sum = 0;
  for (int j = 0; j < count; ++j) {
    out[j] = CubicKernel((j + lo - centre + 0.5) * inverse);
    sum += out[j];
  }
  if (sum != 0) {
    for (int j = 0; j < count; ++j) out[j] /= sum;
  }
  *first = lo;
  return count;
}

AxisWeights MakeAxisWeights(int in_size, int out_size) {
  const double scale = static_cast<double>(in_size) / out_size;
  const double support = scale >= 1 ? 2 * scale : 2;
  AxisWeights axis;
  axis.stride = 2 * static_cast<int>(std::ceil(support)) + 1;
  axis.first.resize(static_cast<size_t>(out_size));
  axis.count.resize(static_cast<size_t>(out_size));
  const size_t stride = static_cast<size_t>(axis.stride);
  std::vector<double> real(static_cast<size_t>(out_size) * stride);
  for (size_t i = 0; i < axis.first.size(); ++i) {
    axis.count[i] = ComputeWeights(static_cast<int>(i), in_size, scale, support, axis.stride,
                                   real.data() + i * stride, &axis.first[i]);
  }
  axis.precision = ChoosePrecision(*std::max_element(real.begin(), real.end()));
  const double one = 1 << axis.precision;
  axis.weights.reserve(real.size());
  for (const double w : real) {
    axis.weights.push_back(static_cast<int16_t>(w < 0 ? w * one - 0.5 : w * one + 0.5));
  }
  return axis;
}

// Sums of a run of samples, kept in registers or the first-level cache.
constexpr size_t kLanes = 64;
using Sums = std::array<int32_t, kLanes>;

// sums[i] += weight * samples[i]
inline void Accumulate(int16_t weight, const uint8_t* samples, Sums& sums) {
  for (size_t i = 0; i < kLanes; ++i) sums[i] += weight * static_cast<int16_t>(samples[i]);
}

inline uint8_t Finish(int32_t sum, int precision) {
  return static_cast<uint8_t>(std::clamp(sum >> precision, 0, 255));
}

// Weighted sum of `count` runs of kLanes samples that lie `step` bytes apart; writes kLanes bytes.
inline void WeightedRun(const int16_t* weights, int count, int precision, const uint8_t* samples,
                        size_t step, uint8_t* out) {
  Sums sums;
  sums.fill(1 << (precision - 1));
  for (int j = 0; j < count; ++j, samples += step) Accumulate(weights[j], samples, sums);
  for (size_t i = 0; i < kLanes; ++i) out[i] = Finish(sums[i], precision);
}

// Every output row is a weighted sum of input rows.
Image ResizeVertically(const Image& in, int out_height) {
  const AxisWeights axis = MakeAxisWeights(in.height, out_height);
  Image out(in.width, out_height);
  const size_t row_bytes = static_cast<size_t>(in.width) * Image::kChannels;
  for (int y = 0; y < out_height; ++y) {
    const size_t i = static_cast<size_t>(y);
    const uint8_t* const top = in.Row(axis.first[i]);
    uint8_t* const row = out.Row(y);
    size_t x = 0;
    for (; x + kLanes <= row_bytes; x += kLanes) {
      WeightedRun(axis.Row(y), axis.count[i], axis.precision, top + x, row_bytes, row + x);
    }
    for (; x < row_bytes; ++x) {
      int32_t sum = 1 << (axis.precision - 1);
      for (int j = 0; j < axis.count[i]; ++j) {
        sum += axis.Row(y)[j] * top[x + static_cast<size_t>(j) * row_bytes];
      }
      row[x] = Finish(sum, axis.precision);
    }
  }
  return out;
}

// Rows handled together by the horizontal pass: one column of them is a run of kLanes samples.
constexpr int kBandRows = 21;
static_assert(kBandRows * Image::kChannels <= static_cast<int>(kLanes));

// Copies rows y.. of `in` into `columns` [width, kLanes]: the samples of a column side by side.
void GatherColumns(const Image& in, int y, int num_rows, std::vector<uint8_t>& columns) {
  for (int r = 0; r < num_rows; ++r) {
    const uint8_t* pixel = in.Row(y + r);
    uint8_t* out = columns.data() + static_cast<size_t>(r) * Image::kChannels;
    for (int x = 0; x < in.width; ++x, pixel += Image::kChannels, out += kLanes) {
      std::memcpy(out, pixel, Image::kChannels);
    }
  }
}

// Every output column is a weighted sum of input columns.
Image ResizeHorizontally(const Image& in, int out_width) {
  const AxisWeights axis = MakeAxisWeights(in.width, out_width);
  Image out(out_width, in.height);
  std::vector<uint8_t> columns(static_cast<size_t>(in.width) * kLanes);
  std::array<uint8_t, kLanes> column;
  for (int y = 0; y < in.height; y += kBandRows) {
    const int num_rows = std::min(kBandRows, in.height - y);
    GatherColumns(in, y, num_rows, columns);
    for (int x = 0; x < out_width; ++x) {
      const size_t i = static_cast<size_t>(x);
      WeightedRun(axis.Row(x), axis.count[i], axis.precision,
                  columns.data() + static_cast<size_t>(axis.first[i]) * kLanes, kLanes,
                  column.data());
      for (int r = 0; r < num_rows; ++r) {
        std::memcpy(out.Row(y + r) + i * Image::kChannels,
                    column.data() + static_cast<size_t>(r) * Image::kChannels, Image::kChannels);
      }
    }
  }
  return out;
}

}  // namespace

Image ResizeBicubic(const Image& image, int width, int height) {
  assert(!image.empty() && width > 0 && height > 0);
  if (width == image.width && height == image.height) return image;
  if (width == image.width) return ResizeVertically(image, height);
  if (height == image.height) return ResizeHorizontally(image, width);
  return ResizeVertically(ResizeHorizontally(image, width), height);
}

}  // namespace platen::glm_ocr
