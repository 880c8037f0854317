#include "model/checkpoint/checkpoint.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "model/checkpoint/safetensors.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen {
namespace {

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr size_t kMaxIndexBytes = 16 << 20;
constexpr size_t kMaxShards = 1000;

// tensor name -> shard file name.
std::map<std::string, std::string> ReadIndex(const std::string& path) {
  const nlohmann::json json = ReadJsonFile(path, kMaxIndexBytes);
  const JsonObject weight_map = JsonObject(json, path).Object("weight_map");
  std::map<std::string, std::string> index;
  for (const auto& [tensor, shard] : weight_map.value().items()) {
    if (!shard.is_string()) weight_map.Fail(tensor, "must be a file name");
    const std::string& name = shard.get_ref<const std::string&>();
    // Shards lie beside the index: a path could reach any file of the machine.
    if (name.empty() || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      weight_map.Fail(tensor,
                      "must be the name of a file in the same folder, not " + JsonExcerpt(shard));
    }
    index.emplace(tensor, name);
  }
  if (index.empty())
    throw Error(ErrorKind::kModel, {.file = path, .field = "weight_map"}, "is empty");
  return index;
}

float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
  const uint32_t exponent = (half >> 10) & 0x1FU;
  const uint32_t mantissa = half & 0x3FFU;
  if (exponent == 0) {  // zero or subnormal: mantissa x 2^-24, exact in f32
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  const uint32_t wide = exponent == 0x1F ? 0xFFU : exponent + 112;  // bias 15 -> 127
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

template <typename Stored, typename Widen>
void WidenAll(std::span<const std::byte> bytes, std::span<float> out, Widen widen) {
  for (size_t i = 0; i < out.size(); ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = widen(value);
  }
}

// Index of the first element whose exponent bits are all set (NaN or infinity), or `count`.
template <typename Bits>
size_t FirstNonFinite(std::span<const std::byte> bytes, Bits exponent_mask) {
  const size_t count = bytes.size() / sizeof(Bits);
  const auto finite = [&](size_t i) {
    Bits value;
    std::memcpy(&value, bytes.data() + i * sizeof(Bits), sizeof(Bits));
    return (value & exponent_mask) != exponent_mask;
  };
  constexpr size_t kBlock = 4096;  // one branch per block lets the inner loop be vectorised
  for (size_t start = 0; start < count; start += kBlock) {
    const size_t end = std::min(start + kBlock, count);
    bool all_finite = true;
    for (size_t i = start; i < end; ++i) all_finite &= finite(i);
    if (all_finite) continue;
    size_t bad = start;
    while (finite(bad)) ++bad;
    return bad;
  }
  return count;
}

size_t FirstNonFinite(const StoredTensor& tensor) {
  switch (tensor.dtype) {
    case DType::kF32:
      return FirstNonFinite<uint32_t>(tensor.bytes, 0x7F800000);
    case DType::kF16:
      return FirstNonFinite<uint16_t>(tensor.bytes, 0x7C00);
    case DType::kBF16:
      return FirstNonFinite<uint16_t>(tensor.bytes, 0x7F80);
    case DType::kI64:
      break;
  }
  return 0;
}

}  // namespace

const char* DTypeName(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBF16:
      return "BF16";
    case DType::kI64:
      return "I64";
  }
  return "?";
}

size_t DTypeSize(DType dtype) {
  if (dtype == DType::kI64) return 8;
  return dtype == DType::kF32 ? 4 : 2;
}

int64_t StoredTensor::num_elements() const {
  return static_cast<int64_t>(bytes.size() / DTypeSize(dtype));
}

bool SameContent(const StoredTensor& a, const StoredTensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.bytes.size() == b.bytes.size() &&
         std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t dim : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dim);
  }
  return text + "]";
}

void CheckFinite(const StoredTensor& tensor) {
  const size_t bad = FirstNonFinite(tensor);
  if (bad == static_cast<size_t>(tensor.num_elements())) return;
  throw Error(ErrorKind::kModel,
              {.file = tensor.file,
               .field = tensor.name,
               .offset = tensor.file_offset + bad * DTypeSize(tensor.dtype)},
              "element " + std::to_string(bad) + " is not a finite number");
}

namespace {

void Widen(DType dtype, std::span<const std::byte> bytes, std::span<float> out) {
  switch (dtype) {
    case DType::kF32:
      WidenAll<float>(bytes, out, [](float v) { return v; });
      break;
    case DType::kF16:
      WidenAll<uint16_t>(bytes, out, HalfToFloat);
      break;
    case DType::kBF16:
      WidenAll<uint16_t>(bytes, out, [](uint16_t v) {
        return std::bit_cast<float>(static_cast<uint32_t>(v) << 16);
      });
      break;
    case DType::kI64:
      assert(false);  // no checkpoint hands one out
      break;
  }
}

}  // namespace

void WidenToF32(const StoredTensor& tensor, std::span<float> out) {
  assert(out.size() == static_cast<size_t>(tensor.num_elements()));
  CheckFinite(tensor);
  Widen(tensor.dtype, tensor.bytes, out);
}

void WidenRow(const StoredTensor& tensor, int64_t row, std::span<float> out) {
  assert(row >= 0 && row < tensor.shape[0]);
  const size_t row_bytes = out.size() * DTypeSize(tensor.dtype);
  assert(row_bytes * static_cast<size_t>(tensor.shape[0]) == tensor.bytes.size());
  Widen(tensor.dtype, tensor.bytes.subspan(static_cast<size_t>(row) * row_bytes, row_bytes), out);
}

void WidenColumn(const StoredTensor& tensor, int64_t column, std::span<float> out) {
  const auto columns = static_cast<size_t>(tensor.shape.back());
  assert(column >= 0 && column < tensor.shape.back());
  assert(out.size() * columns == static_cast<size_t>(tensor.num_elements()));
  const size_t size = DTypeSize(tensor.dtype);
  for (size_t row = 0; row < out.size(); ++row) {
    const size_t at = (row * columns + static_cast<size_t>(column)) * size;
    Widen(tensor.dtype, tensor.bytes.subspan(at, size), out.subspan(row, 1));
  }
}

void ReleasePagesOf(const StoredTensor& tensor) noexcept {
  if (tensor.mapped) ReleasePages(tensor.bytes);
}

Checkpoint Checkpoint::Open(const std::string& snapshot_dir) {
  const std::filesystem::path dir(snapshot_dir);
  Checkpoint checkpoint;
  std::map<std::string, std::string> index;  // stays empty for one file
  std::set<std::string> files = {kSingleFile};
  const std::string index_path = (dir / kIndexFile).string();
  if (!FileExists(dir / kSingleFile) && FileExists(index_path)) {
    index = ReadIndex(index_path);
    files.clear();
    for (const auto& [tensor, file] : index) files.insert(file);
    if (files.size() > kMaxShards) {
      throw Error(ErrorKind::kModel, {.file = index_path, .field = "weight_map"},
                  "names more than " + std::to_string(kMaxShards) + " files");
    }
  }
  for (const std::string& name : files) {
    const MappedFile& file = checkpoint.files_.emplace_back((dir / name).string());
    for (StoredTensor& tensor : ReadSafetensors(file, checkpoint.metadata_)) {
      const auto listed = index.find(tensor.name);
      if (!index.empty() && (listed == index.end() || listed->second != name)) {
        throw Error(ErrorKind::kModel, {.file = index_path, .field = "weight_map." + tensor.name},
                    "does not name " + name + ", which holds this tensor");
      }
      const std::string key = tensor.name;
      checkpoint.tensors_.emplace(key, std::move(tensor));
    }
  }
  for (const auto& [tensor, file] : index) {
    if (checkpoint.tensors_.contains(tensor)) continue;
    throw Error(ErrorKind::kModel, {.file = (dir / file).string(), .field = tensor},
                std::string("is missing; ") + kIndexFile + " says it is here");
  }
  checkpoint.DropCounters();
  return checkpoint;
}

Checkpoint Checkpoint::OpenFile(const std::string& path) {
  Checkpoint checkpoint;
  const MappedFile& file = checkpoint.files_.emplace_back(path);
  for (StoredTensor& tensor : ReadSafetensors(file, checkpoint.metadata_)) {
    const std::string key = tensor.name;
    checkpoint.tensors_.emplace(key, std::move(tensor));
  }
  checkpoint.DropCounters();
  return checkpoint;
}

Checkpoint Checkpoint::OfTensors(std::vector<StoredTensor> tensors,
                                 std::map<std::string, std::string> metadata) {
  Checkpoint checkpoint;
  checkpoint.metadata_ = std::move(metadata);
  for (StoredTensor& tensor : tensors) {
    tensor.mapped = false;
    const std::string key = tensor.name;
    checkpoint.tensors_.emplace(key, std::move(tensor));
  }
  return checkpoint;
}

void Checkpoint::DropCounters() {
  std::erase_if(tensors_, [](const auto& entry) { return entry.second.dtype == DType::kI64; });
}

const StoredTensor* Checkpoint::Find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace platen
