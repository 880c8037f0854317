// Maps of features, as convolutions read and write them: the channels of a pixel side by side,
// pixels row by row from the top.
#pragma once

#include <cstdint>

#include "model/ops/tensor.h"

namespace platen {

// A view: pixel (y, x) is row y * width + x of `pixels`. Channels may be some columns of a wider
// map, so that layers write side by side what the next one reads as a whole.
template <class T>
struct BasicMapView {
  BasicMatView<T> pixels;  // [height * width, channels]
  int height = 0;
  int width = 0;

  int64_t channels() const { return pixels.cols; }
  T* At(int y, int x) const { return pixels.Row(int64_t{y} * width + x); }
  BasicMapView Channels(int64_t first, int64_t count) const {
    return {pixels.Columns(first, count), height, width};
  }
  operator BasicMapView<const T>() const { return {pixels, height, width}; }
};
using MapView = BasicMapView<float>;
using ConstMapView = BasicMapView<const float>;

// Owns its values; memory only ever grows, as Mat's.
class FeatureMap {
 public:
  // Resizes and returns the view; values are unspecified.
  MapView Shaped(int height, int width, int64_t channels) {
    height_ = height;
    width_ = width;
    return {values_.Shaped(int64_t{height} * width, channels), height, width};
  }
  MapView View() { return {values_.View(), height_, width_}; }
  ConstMapView View() const { return {values_.View(), height_, width_}; }

 private:
  Mat values_;
  int height_ = 0;
  int width_ = 0;
};

}  // namespace platen
