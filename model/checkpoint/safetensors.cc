#include "model/checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "model/support/checked.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little endian");

constexpr uint64_t kLengthBytes = 8;
// The released model's header has 62,976 bytes for 526 tensors.
constexpr uint64_t kMaxHeaderBytes = 16 << 20;
constexpr size_t kMaxTensors = 100'000;
constexpr size_t kMaxRank = 8;
constexpr const char* kMetadataKey = "__metadata__";

[[noreturn]] void Fail(const std::string& file, const std::string& tensor,
                       std::optional<uint64_t> offset, const std::string& reason) {
  throw Error(ErrorKind::kModel, {.file = file, .field = tensor, .offset = offset}, reason);
}

// What lies in a clone whose large files were not fetched.
void RefuseLfsPointer(const MappedFile& file) {
  constexpr std::string_view kPointerStart = "version https://git-lfs";
  const std::string_view text(reinterpret_cast<const char*>(file.data().data()),
                              file.data().size());
  if (!text.starts_with(kPointerStart)) return;
  Fail(file.path(), {}, 0, "is a Git LFS pointer, not the weights; fetch them with git lfs pull");
}

// Length of the JSON header; it and the length field lie inside the file.
uint64_t HeaderLength(const MappedFile& file) {
  const std::span<const std::byte> data = file.data();
  if (data.size() < kLengthBytes) {
    Fail(file.path(), {}, 0,
         "has " + std::to_string(data.size()) + " bytes, too short for the 8-byte header length");
  }
  uint64_t length = 0;
  std::memcpy(&length, data.data(), kLengthBytes);
  if (!InRange(kLengthBytes, length, data.size())) {
    Fail(file.path(), {}, 0,
         "header length " + std::to_string(length) + " reaches beyond the file's " +
             std::to_string(data.size()) + " bytes");
  }
  if (length > kMaxHeaderBytes) {
    Fail(file.path(), {}, 0,
         "header length " + std::to_string(length) + " exceeds the limit of " +
             std::to_string(kMaxHeaderBytes));
  }
  return length;
}

DType ParseDType(const JsonObject& entry, const std::string& tensor,
                 const std::vector<int64_t>& shape) {
  const std::string name = entry.String("dtype", 16);
  if (name == DTypeName(DType::kI64) && shape.empty()) return DType::kI64;  // a counter
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    if (name == DTypeName(dtype)) return dtype;
  }
  Fail(entry.file(), tensor, std::nullopt,
       "dtype " + JsonExcerpt(name) + " is not supported; weights must be BF16, F16 or F32");
}

// A field of a header entry: an array of whole numbers >= 0.
std::vector<int64_t> ParseSizes(const JsonObject& entry, const char* key, const std::string& tensor,
                                size_t max_count) {
  const nlohmann::json& value = entry.Required(key);
  const auto is_size = [](const nlohmann::json& v) {
    return v.is_number_unsigned() && v.get<uint64_t>() <= INT64_MAX;
  };
  if (!value.is_array() || value.size() > max_count ||
      !std::all_of(value.begin(), value.end(), is_size)) {
    Fail(entry.file(), tensor, std::nullopt,
         std::string(key) + " must be at most " + std::to_string(max_count) +
             " whole numbers >= 0, not " + JsonExcerpt(value));
  }
  return value.get<std::vector<int64_t>>();
}

// shape x dtype in bytes, if it fits.
std::optional<size_t> ByteSize(std::span<const int64_t> shape, DType dtype) {
  std::optional<size_t> bytes = DTypeSize(dtype);
  for (const int64_t dim : shape) {
    bytes = CheckedMul(*bytes, static_cast<size_t>(dim));
    if (!bytes) return std::nullopt;
  }
  return bytes;
}

// One entry of the header. `data_start` is the file offset of the data area.
StoredTensor ParseEntry(const MappedFile& file, const std::string& name,
                        const nlohmann::json& value, uint64_t data_start) {
  const JsonObject entry(value, file.path(), name);
  entry.RefuseUnknownKeys({"dtype", "shape", "data_offsets"});
  StoredTensor tensor;
  tensor.name = name;
  tensor.file = file.path();
  tensor.shape = ParseSizes(entry, "shape", name, kMaxRank);
  tensor.dtype = ParseDType(entry, name, tensor.shape);

  const std::vector<int64_t> range = ParseSizes(entry, "data_offsets", name, 2);
  if (range.size() != 2) Fail(file.path(), name, std::nullopt, "data_offsets must be two numbers");
  const auto begin = static_cast<uint64_t>(range[0]);
  const auto end = static_cast<uint64_t>(range[1]);
  const uint64_t data_size = file.data().size() - data_start;
  const std::string text = ShapeText(range);
  // begin <= 2^63 and data_start <= 16 MiB: the sum does not overflow.
  tensor.file_offset = data_start + begin;
  if (begin > end)
    Fail(file.path(), name, tensor.file_offset, "data_offsets " + text + " reversed");
  if (!InRange(begin, end - begin, data_size)) {
    Fail(file.path(), name, tensor.file_offset,
         "data_offsets " + text + " reach beyond the data area of " + std::to_string(data_size) +
             " bytes");
  }
  const std::optional<size_t> bytes = ByteSize(tensor.shape, tensor.dtype);
  if (bytes != end - begin) {
    Fail(file.path(), name, tensor.file_offset,
         std::string("shape ") + ShapeText(tensor.shape) + " of " + DTypeName(tensor.dtype) +
             (bytes ? " needs " + std::to_string(*bytes) + " bytes" : " overflows") +
             ", data_offsets " + text + " hold " + std::to_string(end - begin));
  }
  tensor.bytes = file.data().subspan(tensor.file_offset, end - begin);
  return tensor;
}

void ReadMetadata(const MappedFile& file, const nlohmann::json& value,
                  std::map<std::string, std::string>& metadata) {
  const JsonObject object(value, file.path(), kMetadataKey);
  for (const auto& [key, text] : object.value().items()) {
    if (!text.is_string()) object.Fail(key, "must be a text, not " + JsonExcerpt(text));
    metadata[key] = text.get<std::string>();
  }
}

// `tensors` sorted by offset: each must start where the one before it ends, the last at the end.
void CheckCoverage(const MappedFile& file, const std::vector<StoredTensor>& tensors,
                   uint64_t data_start) {
  uint64_t expected = data_start;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.file_offset != expected) {
      const bool overlap = tensor.file_offset < expected;
      Fail(file.path(), tensor.name, tensor.file_offset,
           std::string(overlap ? "overlaps the tensor before it" : "leaves a hole before it") +
               "; expected to start at " + std::to_string(expected));
    }
    expected += tensor.bytes.size();
  }
  if (expected != file.data().size()) {
    Fail(file.path(), {}, expected,
         std::to_string(file.data().size() - expected) +
             " bytes after the last tensor belong to none");
  }
}

}  // namespace

std::vector<StoredTensor> ReadSafetensors(const MappedFile& file,
                                          std::map<std::string, std::string>& metadata) {
  RefuseLfsPointer(file);
  const uint64_t header_length = HeaderLength(file);
  const uint64_t data_start = kLengthBytes + header_length;
  const std::string_view text(reinterpret_cast<const char*>(file.data().data()) + kLengthBytes,
                              header_length);
  const nlohmann::json header = ParseJson(text, file.path(), kLengthBytes);
  if (!header.is_object()) Fail(file.path(), {}, kLengthBytes, "the header is not a JSON object");
  if (header.size() > kMaxTensors) {
    Fail(file.path(), {}, kLengthBytes, "more than " + std::to_string(kMaxTensors) + " tensors");
  }
  std::vector<StoredTensor> tensors;
  tensors.reserve(header.size());
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadataKey) {
      ReadMetadata(file, value, metadata);
    } else {
      tensors.push_back(ParseEntry(file, name, value, data_start));
    }
  }
  // Empty tensors share their offset with the next one and go first.
  std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::pair(a.file_offset, a.bytes.size()) < std::pair(b.file_offset, b.bytes.size());
  });
  CheckCoverage(file, tensors, data_start);
  return tensors;
}

}  // namespace platen
