#include "model/ops/conv2d.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "model/ops/parallel.h"
#include "model/ops/work_observer.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

// A tile of gathered pixels stays in the L2 cache beside a slice of the weights. Whole register
// tiles of the kernels (6 rows), and enough of them that weights are read seldom.
constexpr int64_t kTileBytes = 640 << 10;
constexpr int64_t kMostTileRows = 192;
constexpr int64_t kFewestTileRows = 48;
constexpr int64_t kRowStep = 6;

int64_t TileRows(int64_t depth) {
  const int64_t fit = kTileBytes / (depth * static_cast<int64_t>(sizeof(float)));
  return std::clamp(fit / kRowStep * kRowStep, kFewestTileRows, kMostTileRows);
}

void CopyFloats(const float* from, int64_t count, float* to) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

void ClearFloats(int64_t count, float* to) {
  std::memset(to, 0, static_cast<size_t>(count) * sizeof(float));
}

}  // namespace

Conv2d::Conv2d(const ConvWindow& window, Linear weights)
    : window_(window), weights_(std::move(weights)) {
  assert(weights_.depth() % window_.taps() == 0);
}

void Conv2d::Apply(const KernelTable& kernels, ConstMapView x, MapView y, Linear::Mode mode,
                   LinearWorkspace& ws) const {
  assert(weights_.depth() == window_.taps() * x.channels());
  assert(y.height == window_.OutputSide(x.height) && y.width == window_.OutputSide(x.width));
  if (window_.kernel == 1 && window_.stride == 1) {
    weights_.Apply(kernels, LinearInput(x.pixels), y.pixels, ws, mode);
    return;
  }
  const int64_t pixels = y.pixels.rows;
  const WatchedGemm watched({pixels, weights_.columns(), weights_.depth(), "f32"});
  const int64_t tile_rows = TileRows(weights_.depth());
  ParallelFor(CeilDiv(pixels, tile_rows), [&](int64_t index) {
    thread_local Mat tile;
    const int64_t first = index * tile_rows;
    const int64_t rows = std::min(tile_rows, pixels - first);
    const MatView gathered = tile.Shaped(rows, weights_.depth());
    Gather(x, y.width, first, gathered);
    weights_.ApplyTile(kernels, gathered, y.pixels.Rows(first, rows), mode);
  });
}

// tile[i] = what the kernel sees at output pixel first + i, zeros outside the map.
void Conv2d::Gather(ConstMapView x, int out_width, int64_t first, MatView tile) const {
  const int64_t channels = x.channels();
  const int k = window_.kernel;
  const bool dense = x.pixels.stride == channels;  // pixels of a row follow each other
  for (int64_t i = 0; i < tile.rows; ++i) {
    const auto out_y = static_cast<int>((first + i) / out_width);
    const auto out_x = static_cast<int>((first + i) % out_width);
    const int top = out_y * window_.stride - window_.pad_before;
    const int left = out_x * window_.stride - window_.pad_before;
    const int from = std::clamp(-left, 0, k);  // taps of a row within the map: [from, to)
    const int to = std::clamp(x.width - left, from, k);
    float* out = tile.Row(i);
    for (int dy = 0; dy < k; ++dy, out += k * channels) {
      const int in_y = top + dy;
      if (in_y < 0 || in_y >= x.height || from == to) {
        ClearFloats(k * channels, out);
        continue;
      }
      ClearFloats(from * channels, out);
      if (dense) {
        CopyFloats(x.At(in_y, left + from), (to - from) * channels, out + from * channels);
      } else {
        for (int dx = from; dx < to; ++dx) {
          CopyFloats(x.At(in_y, left + dx), channels, out + dx * channels);
        }
      }
      ClearFloats((k - to) * channels, out + to * channels);
    }
  }
}

DepthwiseConv2d::DepthwiseConv2d(const ConvWindow& window, std::vector<float> weights,
                                 std::vector<float> bias)
    : window_(window), weights_(std::move(weights)), bias_(std::move(bias)) {
  assert(weights_.size() == static_cast<size_t>(window_.taps()) * bias_.size());
}

void DepthwiseConv2d::Apply(ConstMapView x, MapView y, Activation activation) const {
  const auto channels = static_cast<size_t>(x.channels());
  assert(channels == bias_.size() && x.channels() == y.channels());
  assert(y.height == window_.OutputSide(x.height) && y.width == window_.OutputSide(x.width));
  ParallelFor(y.height, [&](int64_t row) {
    const auto out_y = static_cast<int>(row);
    for (int out_x = 0; out_x < y.width; ++out_x) {
      const std::span<float> out(y.At(out_y, out_x), channels);
      Pixel(x, out_y * window_.stride - window_.pad_before,
            out_x * window_.stride - window_.pad_before, out);
      if (activation == Activation::kNone) continue;
      for (float& value : out) value = value < 0.0F ? 0.0F : value;
    }
  });
}

void DepthwiseConv2d::Pixel(ConstMapView x, int top, int left, std::span<float> out) const {
  std::copy(bias_.begin(), bias_.end(), out.begin());
  const size_t channels = out.size();
  for (int dy = 0; dy < window_.kernel; ++dy) {
    if (top + dy < 0 || top + dy >= x.height) continue;
    for (int dx = 0; dx < window_.kernel; ++dx) {
      if (left + dx < 0 || left + dx >= x.width) continue;
      const float* in = x.At(top + dy, left + dx);
      const float* w = weights_.data() + static_cast<size_t>(dy * window_.kernel + dx) * channels;
      float* to = out.data();
      for (size_t c = 0; c < channels; ++c) to[c] += w[c] * in[c];
    }
  }
}

}  // namespace platen
