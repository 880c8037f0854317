#include "model/checkpoint/weight_source.h"

#include <algorithm>
#include <cassert>

#include "model/support/mapped_file.h"

namespace platen {
namespace {

int64_t DepthOf(const StoredTensor& tensor) { return tensor.num_elements() / tensor.shape[0]; }

int64_t TotalRows(const std::vector<const StoredTensor*>& tensors) {
  int64_t rows = 0;
  for (const StoredTensor* tensor : tensors) rows += tensor->shape[0];
  return rows;
}

// Turns [depth / places, places] into [places, depth / places].
void GroupByPlace(int64_t places, std::span<float> row) {
  const std::vector<float> stored(row.begin(), row.end());
  const int64_t channels = static_cast<int64_t>(row.size()) / places;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t place = 0; place < places; ++place) {
      row[static_cast<size_t>(place * channels + c)] =
          stored[static_cast<size_t>(c * places + place)];
    }
  }
}

const float* ReadRow(const ProductSpec& spec, int64_t index, std::span<float> scratch) {
  for (const StoredTensor* tensor : spec.rows) {
    if (index < tensor->shape[0]) {
      WidenRow(*tensor, index, scratch);
      if (spec.places > 1) GroupByPlace(spec.places, scratch);
      return scratch.data();
    }
    index -= tensor->shape[0];
  }
  assert(false);
  return nullptr;
}

}  // namespace

LinearShape ProductSpec::Shape(Precision precision) const {
  const int64_t all = TotalRows(rows);
  return {.format = {precision, group},
          .silu_mul = silu_mul,
          .columns = silu_mul ? all / 2 : all,
          .depth = DepthOf(*rows[0])};
}

Linear CheckpointSource::GetProduct(const ProductSpec& spec) {
  for (const StoredTensor* tensor : spec.rows) CheckFinite(*tensor);
  std::vector<float> bias;
  for (const StoredTensor* tensor : spec.bias) {
    const std::vector<float> part = GetVector(*tensor);
    bias.insert(bias.end(), part.begin(), part.end());
  }
  const LinearShape shape = spec.Shape(precision_);
  const WeightRows rows = {
      TotalRows(spec.rows), shape.depth,
      [&spec](int64_t index, std::span<float> scratch) { return ReadRow(spec, index, scratch); }};
  Linear linear = Linear::PackRows(shape, rows, bias);
  for (const StoredTensor* tensor : spec.rows) ReleasePages(tensor->bytes);
  return linear;
}

std::vector<float> CheckpointSource::GetVector(const StoredTensor& tensor) {
  std::vector<float> v(static_cast<size_t>(tensor.num_elements()));
  WidenToF32(tensor, v);
  return v;
}

Table CheckpointSource::GetTable(const StoredTensor& tensor) {
  CheckFinite(tensor);
  ReleasePages(tensor.bytes);
  return {tensor, nullptr};
}

}  // namespace platen
