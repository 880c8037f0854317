#include "model/ops/map_resampling.h"

#include <algorithm>
#include <cassert>

#include "model/ops/parallel.h"

namespace platen {
namespace {

template <class Body>
void ForRows(int rows, const Body& body) {
  ParallelFor(rows, [&](int64_t y) { body(static_cast<int>(y)); });
}

// A pixel of the doubled map lies a quarter of the way from one pixel of x towards another.
struct Neighbours {
  int near = 0;
  int far = 0;
  float far_share = 0;
};

Neighbours NeighboursOf(int doubled, int size) {
  const int near = doubled / 2;
  const int far = doubled % 2 == 0 ? near - 1 : near + 1;
  return {near, std::clamp(far, 0, size - 1), 0.25F};
}

}  // namespace

void MaxPool2x2(ConstMapView x, MapView y) {
  assert(x.height == y.height && x.width == y.width && x.channels() == y.channels());
  ForRows(y.height, [&](int row) {
    for (int column = 0; column < y.width; ++column) {
      float* out = y.At(row, column);
      std::copy_n(x.At(row, column), x.channels(), out);
      for (const auto& [dy, dx] : {std::pair{0, 1}, std::pair{1, 0}, std::pair{1, 1}}) {
        const bool inside = row + dy < x.height && column + dx < x.width;
        const float* in = inside ? x.At(row + dy, column + dx) : nullptr;
        for (int64_t c = 0; c < x.channels(); ++c) {
          const float value = inside ? in[c] : 0.0F;
          out[c] = out[c] < value ? value : out[c];
        }
      }
    }
  });
}

void UpsampleNearest2x(ConstMapView x, MapView y) {
  assert(y.height == 2 * x.height && y.width == 2 * x.width && x.channels() == y.channels());
  ForRows(y.height, [&](int row) {
    for (int column = 0; column < y.width; ++column) {
      std::copy_n(x.At(row / 2, column / 2), x.channels(), y.At(row, column));
    }
  });
}

void UpsampleBilinear2x(ConstMapView x, MapView y, Upsampled how) {
  assert(y.height == 2 * x.height && y.width == 2 * x.width && x.channels() == y.channels());
  ForRows(y.height, [&](int row) {
    const Neighbours v = NeighboursOf(row, x.height);
    for (int column = 0; column < y.width; ++column) {
      const Neighbours h = NeighboursOf(column, x.width);
      const float* nn = x.At(v.near, h.near);
      const float* nf = x.At(v.near, h.far);
      const float* fn = x.At(v.far, h.near);
      const float* ff = x.At(v.far, h.far);
      float* out = y.At(row, column);
      for (int64_t c = 0; c < x.channels(); ++c) {
        const float near = nn[c] + (nf[c] - nn[c]) * h.far_share;
        const float far = fn[c] + (ff[c] - fn[c]) * h.far_share;
        const float value = near + (far - near) * v.far_share;
        out[c] = how == Upsampled::kAdded ? out[c] + value : value;
      }
    }
  });
}

void AddMap(ConstMapView y, MapView x) {
  assert(x.height == y.height && x.width == y.width && x.channels() == y.channels());
  ForRows(x.height, [&](int row) {
    for (int column = 0; column < x.width; ++column) {
      const float* from = y.At(row, column);
      float* to = x.At(row, column);
      for (int64_t c = 0; c < x.channels(); ++c) to[c] += from[c];
    }
  });
}

void CopyMap(ConstMapView x, MapView y) {
  assert(x.height == y.height && x.width == y.width && x.channels() == y.channels());
  ForRows(x.height, [&](int row) {
    for (int column = 0; column < x.width; ++column) {
      std::copy_n(x.At(row, column), x.channels(), y.At(row, column));
    }
  });
}

}  // namespace platen
