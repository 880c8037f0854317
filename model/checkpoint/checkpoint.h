// The tensors of a snapshot: one safetensors file or several with an index, mapped read-only.
//
// Weights are floats. A single I64, as torch keeps one beside every batch norm to count batches, is
// checked like the others and then left out.
//
// Open() checks every byte range before anything uses it: header length and JSON, dtypes, shapes,
// offsets inside the data area, no overlap, no hole, no duplicate name, size = shape x dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/support/mapped_file.h"

namespace platen {

enum class DType { kF32, kF16, kBF16, kI64 };

const char* DTypeName(DType dtype);  // "F32", "F16", "BF16", "I64", as in safetensors
size_t DTypeSize(DType dtype);       // bytes per element

// A view of one stored tensor; lives as long as the Checkpoint.
struct StoredTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  // little endian, row-major
  std::string file;                  // file that holds it
  uint64_t file_offset = 0;          // of bytes[0] in that file
  bool mapped = true;                // false: the bytes are memory of somebody else's

  int64_t num_elements() const;
};

// Lets the pages of a mapped tensor go; they are read again where they are needed again.
void ReleasePagesOf(const StoredTensor& tensor) noexcept;

// Same type, shape and bytes.
bool SameContent(const StoredTensor& a, const StoredTensor& b);

// "[1536, 1024]"
std::string ShapeText(std::span<const int64_t> shape);

// Throws Error(kModel) naming file, tensor and offset if an element is NaN or infinite.
void CheckFinite(const StoredTensor& tensor);

// Widens a tensor to f32; `out` has num_elements() places. Exact for all three dtypes.
// Throws Error(kModel) as CheckFinite does.
void WidenToF32(const StoredTensor& tensor, std::span<float> out);

// Widens one row (first dimension) of a matrix; out has the row's number of elements. Does not
// check for NaN: CheckFinite does, once.
void WidenRow(const StoredTensor& tensor, int64_t row, std::span<float> out);
// The same of one column (last dimension) of a matrix [rows, columns]; out has `rows` places.
void WidenColumn(const StoredTensor& tensor, int64_t column, std::span<float> out);

// Owns the mappings. Immutable after Open; reading is thread-safe.
class Checkpoint {
 public:
  // Throws Error(kModel) naming file, tensor and offset.
  static Checkpoint Open(const std::string& snapshot_dir);
  // The same for one safetensors file by itself.
  static Checkpoint OpenFile(const std::string& path);

  // nullptr if there is no such tensor.
  const StoredTensor* Find(const std::string& name) const;
  // All tensors by name.
  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  // What the files say about themselves: "__metadata__" of their headers.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // Tensors that lie in memory instead of a file and outlive the checkpoint.
  static Checkpoint OfTensors(std::vector<StoredTensor> tensors,
                              std::map<std::string, std::string> metadata = {});
  // The mapped files, by name.
  const std::vector<MappedFile>& files() const { return files_; }

 private:
  void DropCounters();

  std::vector<MappedFile> files_;
  std::map<std::string, StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace platen
