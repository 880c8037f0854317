// Source of the arithmetic: torch's uint8 CPU kernels (upsample_bicubic2d_aa, upsample_bicubic2d).
#include "model/ops/resize_image.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <vector>

namespace platen {
namespace {

// Cubic convolution (Keys) with the slope `a` at 1.
double CubicKernel(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
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
    out[j] = CubicKernel((j + lo - centre + 0.5) * inverse, -0.5);
    sum += out[j];
  }
  if (sum != 0) {
    for (int j = 0; j < count; ++j) out[j] /= sum;
  }
  *first = lo;
  return count;
}

// Real-valued weights of output `i` as above, of the four samples around it.
int ComputeFourWeights(int i, int in_size, double scale, double* out, int* first) {
  const double centre = scale * (i + 0.5) - 0.5;
  const int around = static_cast<int>(std::floor(centre));
  const auto inside = [&](int sample) { return std::clamp(sample, 0, in_size - 1); };
  *first = inside(around - 1);
  std::fill_n(out, 4, 0.0);
  for (int sample = around - 1; sample <= around + 2; ++sample) {
    out[inside(sample) - *first] += CubicKernel(centre - sample, -0.75);
  }
  return inside(around + 2) - *first + 1;
}

AxisWeights MakeAxisWeights(int in_size, int out_size, Bicubic kind) {
  const double scale = static_cast<double>(in_size) / out_size;
  const double support = scale >= 1 ? 2 * scale : 2;
  const bool four = kind == Bicubic::kFourTaps;
  AxisWeights axis;
  axis.stride = four ? 4 : 2 * static_cast<int>(std::ceil(support)) + 1;
  axis.first.resize(static_cast<size_t>(out_size));
  axis.count.resize(static_cast<size_t>(out_size));
  const size_t stride = static_cast<size_t>(axis.stride);
  std::vector<double> real(static_cast<size_t>(out_size) * stride);
  for (size_t i = 0; i < axis.first.size(); ++i) {
    double* const weights = real.data() + i * stride;
    const int output = static_cast<int>(i);
    axis.count[i] = four ? ComputeFourWeights(output, in_size, scale, weights, &axis.first[i])
                         : ComputeWeights(output, in_size, scale, support, axis.stride, weights,
                                          &axis.first[i]);
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
Image ResizeVertically(const Image& in, int out_height, Bicubic kind) {
  const AxisWeights axis = MakeAxisWeights(in.height, out_height, kind);
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
Image ResizeHorizontally(const Image& in, int out_width, Bicubic kind) {
  const AxisWeights axis = MakeAxisWeights(in.width, out_width, kind);
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

Image ResizeBicubic(const Image& image, int width, int height, Bicubic kind) {
  assert(!image.empty() && width > 0 && height > 0);
  if (width == image.width && height == image.height) return image;
  if (width == image.width) return ResizeVertically(image, height, kind);
  if (height == image.height) return ResizeHorizontally(image, width, kind);
  return ResizeVertically(ResizeHorizontally(image, width, kind), height, kind);
}

}  // namespace platen
