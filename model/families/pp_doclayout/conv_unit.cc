#include "model/families/pp_doclayout/conv_unit.h"

#include <cmath>
#include <utility>

#include "model/support/error.h"

namespace platen::pp_doclayout {
namespace {

// y = scale x + shift, in doubles: what a batch norm is when its statistics are fixed.
struct Affine {
  std::vector<double> scale, shift;
};

Affine AffineOf(const StoredNorm& norm) {
  Affine out;
  for (size_t i = 0; i < norm.weight.size(); ++i) {
    const double variance = static_cast<double>(norm.variance[i]) + static_cast<double>(norm.eps);
    if (!(variance > 0)) {
      throw Error(ErrorKind::kModel, {.file = {}, .field = norm.name + ".running_var"},
                  "element " + std::to_string(i) + " is negative; the checkpoint is damaged");
    }
    const double scale = static_cast<double>(norm.weight[i]) / std::sqrt(variance);
    out.scale.push_back(scale);
    out.shift.push_back(static_cast<double>(norm.bias[i]) -
                        static_cast<double>(norm.mean[i]) * scale);
  }
  return out;
}

// The kernel of one output channel, [in, taps] as stored, in doubles and scaled.
std::vector<double> ScaledRow(const StoredConv& conv, int64_t row, double scale) {
  const StoredTensor& tensor = conv.kernel.tensor;
  std::vector<float> values(static_cast<size_t>(tensor.num_elements() / tensor.shape[0]));
  WidenRow(tensor, row, values);
  std::vector<double> out;
  out.reserve(values.size());
  for (const float value : values) out.push_back(static_cast<double>(value) * scale);
  return out;
}

// [in, taps] -> [taps, in]
void TapsFirst(const std::vector<double>& kernel, int64_t taps, std::span<float> out) {
  const auto in = static_cast<int64_t>(kernel.size()) / taps;
  for (int64_t c = 0; c < in; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      out[static_cast<size_t>(tap * in + c)] =
          static_cast<float>(kernel[static_cast<size_t>(c * taps + tap)]);
    }
  }
}

std::vector<float> Narrowed(const std::vector<double>& values) {
  std::vector<float> out;
  for (const double value : values) out.push_back(static_cast<float>(value));
  return out;
}

// `row(i)` gives the kernel of output channel i, [in, taps].
template <class Row>
Linear Packed(int64_t out, int64_t depth, int64_t taps, const std::vector<double>& bias,
              const Row& row) {
  const WeightRows rows = {out, depth, [&](int64_t index, std::span<float> scratch) {
                             TapsFirst(row(index), taps, scratch);
                             return static_cast<const float*>(scratch.data());
                           }};
  return Linear::PackRows({.format = Precision::kF32, .columns = out, .depth = depth}, rows,
                          Narrowed(bias));
}

int64_t DepthOf(const StoredConv& conv) {
  return conv.kernel.tensor.num_elements() / conv.kernel.tensor.shape[0];
}

}  // namespace

void ConvUnit::Fold() {
  const Affine norm = AffineOf(stored.norm);
  const auto out = static_cast<int64_t>(norm.scale.size());
  folded = Conv2d(window, Packed(out, DepthOf(stored), window.taps(), norm.shift, [&](int64_t i) {
                    return ScaledRow(stored, i, norm.scale[static_cast<size_t>(i)]);
                  }));
  stored = {};
}

void RepUnit::Fold() {
  const ConvWindow window = ConvWindow::Centred(3);
  const int64_t taps = window.taps();
  const Affine norm3 = AffineOf(stored3x3.norm), norm1 = AffineOf(stored1x1.norm);
  std::vector<double> shift = norm3.shift;
  for (size_t i = 0; i < shift.size(); ++i) shift[i] += norm1.shift[i];
  const auto row = [&](int64_t i) {
    std::vector<double> kernel = ScaledRow(stored3x3, i, norm3.scale[static_cast<size_t>(i)]);
    const auto one = ScaledRow(stored1x1, i, norm1.scale[static_cast<size_t>(i)]);
    for (size_t c = 0; c < one.size(); ++c) {
      kernel[c * static_cast<size_t>(taps) + static_cast<size_t>(taps / 2)] += one[c];
    }
    return kernel;
  };
  const auto out = static_cast<int64_t>(shift.size());
  folded = Conv2d(window, Packed(out, DepthOf(stored3x3), taps, shift, row));
  stored3x3 = stored1x1 = {};
}

void DepthwiseUnit::Fold() {
  const Affine norm = AffineOf(stored.norm);
  const size_t channels = norm.scale.size();
  std::vector<float> weights(static_cast<size_t>(window.taps()) * channels);
  for (size_t c = 0; c < channels; ++c) {
    const auto kernel = ScaledRow(stored, static_cast<int64_t>(c), norm.scale[c]);
    for (size_t tap = 0; tap < kernel.size(); ++tap) {
      weights[tap * channels + c] = static_cast<float>(kernel[tap]);
    }
  }
  folded = DepthwiseConv2d(window, std::move(weights), Narrowed(norm.shift));
  stored = {};
}

}  // namespace platen::pp_doclayout
