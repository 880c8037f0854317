// Hidden vectors of rows that a draft layer has not read yet, of many sequences, in bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "model/ops/tensor.h"

namespace platen {

// Chunks of rows that sequences take and give back; what was given back is used again. Thread-safe.
class HiddenRowPool {
 public:
  static constexpr int64_t kChunkRows = 32;

  // Rows of `width` values; at most `bytes` in all, at least one chunk.
  HiddenRowPool(int64_t width, int64_t bytes);

  // [kChunkRows, width]; nullptr: all are taken. Throws std::bad_alloc.
  Mat* Take();
  void Give(Mat* chunk) noexcept;

  int64_t width() const { return width_; }

 private:
  const int64_t width_;
  const size_t most_chunks_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Mat>> chunks_;  // all; guarded by mutex_, and the following
  std::vector<Mat*> free_;
};

// Rows of one sequence, oldest first. Not thread-safe.
class HiddenRows {
 public:
  // Holds up to `most_rows` without growing.
  HiddenRows(HiddenRowPool& pool, int64_t most_rows);
  ~HiddenRows() { Clear(); }
  HiddenRows(const HiddenRows&) = delete;
  HiddenRows& operator=(const HiddenRows&) = delete;

  int64_t size() const { return size_; }
  // All of them or, if the pool has no room, none: false then. Throws std::bad_alloc.
  bool Append(ConstMatView rows);
  // The first out.rows of them; out [.., width].
  void CopyFirst(MatView out) const;
  void DropFirst(int64_t rows) noexcept;
  void Clear() noexcept { DropFirst(size_); }

 private:
  HiddenRowPool* pool_;
  std::vector<Mat*> chunks_;
  int64_t dropped_ = 0;  // rows of the first chunk
  int64_t size_ = 0;
};

}  // namespace platen
