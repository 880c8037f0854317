#include "model/checkpoint/weight_source.h"

#include <algorithm>
#include <cassert>

namespace platen {
namespace {

int64_t TotalRows(const std::vector<StoredMatrix>& matrices) {
  int64_t rows = 0;
  for (const StoredMatrix& matrix : matrices) rows += matrix.rows();
  return rows;
}

// The matrix that a spec takes of its tensor.
StoredMatrix MatrixOf(const TensorSpec& spec, const StoredTensor& stored) {
  if (!spec.part) return {stored};
  const TensorPart& part = *spec.part;
  const int64_t columns = stored.shape.back();
  const size_t row_bytes = static_cast<size_t>(columns) * DTypeSize(stored.dtype);
  StoredMatrix matrix = {stored, part.transposed};
  matrix.tensor.shape = {part.count, columns};
  matrix.tensor.bytes = stored.bytes.subspan(static_cast<size_t>(part.first) * row_bytes,
                                             static_cast<size_t>(part.count) * row_bytes);
  return matrix;
}

// Turns [depth / taps, taps] into [taps, depth / taps].
void GroupByTap(int64_t taps, std::span<float> row) {
  const std::vector<float> stored(row.begin(), row.end());
  const int64_t channels = static_cast<int64_t>(row.size()) / taps;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      row[static_cast<size_t>(tap * channels + c)] = stored[static_cast<size_t>(c * taps + tap)];
    }
  }
}

const float* ReadRow(const LinearSpec& spec, int64_t index, std::span<float> scratch) {
  for (const StoredMatrix& matrix : spec.rows) {
    if (index < matrix.rows()) {
      (matrix.transposed ? WidenColumn : WidenRow)(matrix.tensor, index, scratch);
      if (spec.taps > 1) GroupByTap(spec.taps, scratch);
      return scratch.data();
    }
    index -= matrix.rows();
  }
  assert(false);
  return nullptr;
}

const StoredTensor& Stored(const Checkpoint& checkpoint, const TensorSpec& spec) {
  const StoredTensor* tensor = FindTensor(checkpoint, spec);
  assert(tensor != nullptr);
  return *tensor;
}

LinearSpec SpecOf(const Module& module, const Checkpoint& checkpoint) {
  LinearSpec spec = {.name = module.name, .rows = {}};
  for (const TensorSpec& weights : module.weights) {
    spec.rows.push_back(MatrixOf(weights, Stored(checkpoint, weights)));
  }
  for (const TensorSpec& part : module.biases) spec.bias.push_back(&Stored(checkpoint, part));
  spec.silu_mul = module.silu_mul;
  spec.taps = module.taps;
  spec.full_precision = module.full_precision;
  spec.group_size = module.group_size;
  return spec;
}

}  // namespace

void LoadModules(const ModuleTable& table, const Checkpoint& checkpoint, WeightSource& source) {
  for (const Module& module : table.modules()) {
    if (auto* linear = std::get_if<Linear*>(&module.member)) {
      **linear = source.GetLinear(SpecOf(module, checkpoint));
      continue;
    }
    const TensorSpec& spec = module.weights.front();
    const StoredTensor& tensor = Stored(checkpoint, spec);
    if (auto* vector = std::get_if<std::vector<float>*>(&module.member)) {
      **vector = source.GetVector(spec.name, tensor);
    } else {
      **std::get_if<Table*>(&module.member) = source.GetTable(spec.name, tensor);
    }
  }
}

LinearShape LinearSpec::Shape(Precision precision) const {
  const int64_t all = TotalRows(rows);
  return {.format = {full_precision ? Precision::kF32 : precision, group_size},
          .silu_mul = silu_mul,
          .columns = silu_mul ? all / 2 : all,
          .depth = rows[0].depth()};
}

Linear CheckpointSource::GetLinear(const LinearSpec& spec) {
  for (const StoredMatrix& matrix : spec.rows) CheckFinite(matrix.tensor);
  std::vector<float> bias;
  for (const StoredTensor* tensor : spec.bias) {
    const std::vector<float> part = GetVector(tensor->name, *tensor);
    bias.insert(bias.end(), part.begin(), part.end());
  }
  const LinearShape shape = spec.Shape(precision_);
  const WeightRows rows = {
      TotalRows(spec.rows), shape.depth,
      [&spec](int64_t index, std::span<float> scratch) { return ReadRow(spec, index, scratch); }};
  Linear linear = Linear::PackRows(shape, rows, bias);
  for (const StoredMatrix& matrix : spec.rows) ReleasePagesOf(matrix.tensor);
  return linear;
}

std::vector<float> CheckpointSource::GetVector(const std::string&, const StoredTensor& tensor) {
  std::vector<float> v(static_cast<size_t>(tensor.num_elements()));
  WidenToF32(tensor, v);
  return v;
}

Table CheckpointSource::GetTable(const std::string&, const StoredTensor& tensor) {
  CheckFinite(tensor);
  ReleasePages(tensor.bytes);
  return {tensor, nullptr};
}

}  // namespace platen
