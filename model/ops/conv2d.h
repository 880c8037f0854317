// Convolutions of feature maps in f32: over all channels, and of every channel by itself.
//
// Same bits on every CPU and with any number of threads: an output value is a sum of its own, over
// the taps of the kernel row by row, in each tap over the channels.
#pragma once

#include <span>
#include <vector>

#include "model/ops/feature_map.h"
#include "model/ops/linear.h"

namespace platen {

// A square kernel over a map with zeros around it: pad_before rows at the top and columns at the
// left, pad_after at the bottom and the right.
struct ConvWindow {
  int kernel = 1;
  int stride = 1;
  int pad_before = 0;
  int pad_after = 0;

  // Padding of (kernel - 1) / 2 on all sides: at stride 1 the map keeps its size. Odd kernels.
  static ConvWindow Centred(int kernel, int stride = 1) {
    return {kernel, stride, (kernel - 1) / 2, (kernel - 1) / 2};
  }
  int taps() const { return kernel * kernel; }
  // Rows (or columns) of the output; the input has `n` >= kernel - pad_before - pad_after.
  int OutputSide(int n) const { return (n + pad_before + pad_after - kernel) / stride + 1; }
};

// Every output channel is a sum over all input channels. Immutable; copies share the weights.
// A kernel of 1 is a matrix product of the pixels; others are products of tiles in which the
// pixels under the kernel are gathered, so that memory is that of the two maps and a tile.
class Conv2d {
 public:
  Conv2d() = default;
  // `weights` (f32) multiplies taps x input channels, taps row by row outermost.
  Conv2d(const ConvWindow& window, Linear weights);

  // y = activation(conv(x) + bias); its sides are the window's OutputSide of x's. y may not overlap
  // x. Parallel; thread-safe with different workspaces.
  void Apply(const KernelTable& kernels, ConstMapView x, MapView y, Linear::Mode mode,
             LinearWorkspace& ws) const;

  const ConvWindow& window() const { return window_; }
  int64_t out_channels() const { return weights_.columns(); }

 private:
  void Gather(ConstMapView x, int out_width, int64_t first, MatView tile) const;

  ConvWindow window_;
  Linear weights_;
};

// Every output channel is a sum over the same input channel. Immutable.
class DepthwiseConv2d {
 public:
  DepthwiseConv2d() = default;
  // weights [taps][channels], bias [channels].
  DepthwiseConv2d(const ConvWindow& window, std::vector<float> weights, std::vector<float> bias);

  enum class Activation { kNone, kRelu };
  // As Conv2d::Apply.
  void Apply(ConstMapView x, MapView y, Activation activation) const;

  const ConvWindow& window() const { return window_; }

 private:
  void Pixel(ConstMapView x, int top, int left, std::span<float> out) const;

  ConvWindow window_;
  std::vector<float> weights_;
  std::vector<float> bias_;
};

}  // namespace platen
