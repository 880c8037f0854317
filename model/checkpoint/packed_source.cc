#include "model/checkpoint/packed_source.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "model/ops/parallel.h"
#include "model/support/container_limits.h"
#include "model/support/hash.h"
#include "model/support/large_memory.h"
#include "model/support/mapped_file.h"

namespace platen {
namespace {

// `array` is 64-byte aligned in a packed file.
std::span<const float> AsFloats(PackedFile::Array array) {
  return {reinterpret_cast<const float*>(array.data()), array.size() / sizeof(float)};
}

std::string VectorForm(const StoredTensor& tensor) { return "f32 " + ShapeText(tensor.shape); }

std::string TableForm(const StoredTensor& tensor) {
  return std::string(DTypeName(tensor.dtype)) + " " + ShapeText(tensor.shape);
}

std::array<uint64_t, 3> ArrayBytes(const LinearShape& shape, bool bias) {
  const int64_t bias_values = bias ? shape.num_panels() * kPanelColumns : 0;
  return {static_cast<uint64_t>(shape.num_panels() * shape.panel_bytes()),
          static_cast<uint64_t>(shape.num_scales()) * sizeof(float),
          static_cast<uint64_t>(bias_values) * sizeof(float)};
}

// The pages of the file are let go: they would only be a second copy.
void Copy(PackedFile::Array array, std::span<std::byte> out) {
  constexpr size_t kChunk = 4 << 20;
  ParallelFor(static_cast<int64_t>((array.size() + kChunk - 1) / kChunk), [&](int64_t i) {
    const size_t begin = static_cast<size_t>(i) * kChunk;
    const PackedFile::Array chunk = array.subspan(begin, std::min(kChunk, array.size() - begin));
    std::copy(chunk.begin(), chunk.end(), out.begin() + static_cast<ptrdiff_t>(begin));
    ReleasePages(chunk);
  });
}

Linear Copied(const LinearShape& shape, const std::vector<PackedFile::Array>& arrays) {
  const LinearMemory memory(shape, !arrays[2].empty());
  Copy(arrays[0], memory.panels);
  Copy(arrays[1], std::as_writable_bytes(memory.scales));
  Copy(arrays[2], std::as_writable_bytes(memory.bias));
  return Linear::FromArrays(shape, memory.arrays(), memory.owner);
}

}  // namespace

std::string LayoutHash(Precision precision) {
  // More than a panel, more than a group, neither a multiple of anything.
  constexpr int64_t kRows = 2 * 71;
  constexpr int64_t kDepth = 301;
  const auto read = [](int64_t row, std::span<float> out) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<float>((static_cast<size_t>(row) * 7919 + i * 104729) % 2003) - 1001.0F;
    }
    return static_cast<const float*>(out.data());
  };
  std::vector<float> bias(kRows);
  read(kRows, bias);
  Hasher hasher;
  for (const bool silu_mul : {false, true}) {
    const LinearShape shape = {.format = precision,
                               .silu_mul = silu_mul,
                               .columns = silu_mul ? kRows / 2 : kRows,
                               .depth = kDepth};
    const Linear linear = Linear::PackRows(shape, {kRows, kDepth, read}, bias);
    const LinearArrays& arrays = linear.arrays();
    for (const PackedFile::Array array :
         {arrays.panels, std::as_bytes(arrays.scales), std::as_bytes(arrays.bias)}) {
      hasher.Add({reinterpret_cast<const char*>(array.data()), array.size()});
    }
  }
  return hasher.Hex();
}

PackedWeightsIn BestPlaceFor(uint64_t bytes) {
  constexpr uint64_t kPlenty = 4;  // times the weights
  const auto pages = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  uint64_t memory = pages * static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  const std::optional<int64_t> limit = ReadContainerLimits().memory_bytes;
  if (limit) memory = std::min(memory, static_cast<uint64_t>(*limit));
  const bool fits = bytes <= memory / kPlenty;
  return fits && HasHugePages() ? PackedWeightsIn::kCopied : PackedWeightsIn::kMapped;
}

Linear PackedFileSource::GetLinear(const LinearSpec& spec) {
  const LinearShape shape = spec.Shape(precision_);
  const auto arrays = file_->Find(spec.name, shape.Text(), ArrayBytes(shape, !spec.bias.empty()));
  if (place_ == PackedWeightsIn::kCopied) return Copied(shape, arrays);
  return Linear::FromArrays(shape, {arrays[0], AsFloats(arrays[1]), AsFloats(arrays[2])}, file_);
}

std::vector<float> PackedFileSource::GetVector(const std::string& name,
                                               const StoredTensor& tensor) {
  const uint64_t bytes = static_cast<uint64_t>(tensor.num_elements()) * sizeof(float);
  const auto values = AsFloats(file_->Find(name, VectorForm(tensor), std::span(&bytes, 1))[0]);
  return {values.begin(), values.end()};
}

Table PackedFileSource::GetTable(const std::string& name, const StoredTensor& tensor) {
  const uint64_t bytes = tensor.bytes.size();
  Table table = {tensor, file_};
  table.tensor.bytes = file_->Find(name, TableForm(tensor), std::span(&bytes, 1))[0];
  return table;
}

Linear PackingSource::GetLinear(const LinearSpec& spec) {
  const Linear linear = checkpoint_.GetLinear(spec);
  const LinearArrays& arrays = linear.arrays();
  const PackedFile::Array parts[] = {arrays.panels, std::as_bytes(arrays.scales),
                                     std::as_bytes(arrays.bias)};
  writer_.Add(spec.name, linear.shape().Text(), parts);
  return {};
}

std::vector<float> PackingSource::GetVector(const std::string& name, const StoredTensor& tensor) {
  const std::vector<float> values = checkpoint_.GetVector(name, tensor);
  const PackedFile::Array part = std::as_bytes(std::span(values));
  writer_.Add(name, VectorForm(tensor), std::span(&part, 1));
  return {};
}

Table PackingSource::GetTable(const std::string& name, const StoredTensor& tensor) {
  const Table table = checkpoint_.GetTable(name, tensor);
  writer_.Add(name, TableForm(tensor), std::span(&table.tensor.bytes, 1));
  ReleasePages(table.tensor.bytes);
  return {};
}

}  // namespace platen
