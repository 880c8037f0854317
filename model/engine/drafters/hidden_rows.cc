#include "model/engine/drafters/hidden_rows.h"

#include <algorithm>
#include <cassert>

namespace platen {

HiddenRowPool::HiddenRowPool(int64_t width, int64_t bytes)
    : width_(width),
      most_chunks_(static_cast<size_t>(std::max<int64_t>(
          1, bytes / (kChunkRows * width * static_cast<int64_t>(sizeof(float)))))) {}

Mat* HiddenRowPool::Take() {
  const std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    Mat* chunk = free_.back();
    free_.pop_back();
    return chunk;
  }
  if (chunks_.size() >= most_chunks_) return nullptr;
  free_.reserve(chunks_.size() + 1);  // so that giving back cannot fail
  chunks_.push_back(std::make_unique<Mat>(kChunkRows, width_));
  return chunks_.back().get();
}

void HiddenRowPool::Give(Mat* chunk) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(chunk);
}

HiddenRows::HiddenRows(HiddenRowPool& pool, int64_t most_rows) : pool_(&pool) {
  // The first chunk and the last may be there in part.
  chunks_.reserve(static_cast<size_t>(most_rows / HiddenRowPool::kChunkRows + 2));
}

bool HiddenRows::Append(ConstMatView rows) {
  assert(rows.cols == pool_->width());
  constexpr int64_t kRows = HiddenRowPool::kChunkRows;
  const auto needed = static_cast<size_t>((dropped_ + size_ + rows.rows + kRows - 1) / kRows);
  const size_t had = chunks_.size();
  if (needed > chunks_.capacity()) chunks_.reserve(2 * needed);
  while (chunks_.size() < needed) {
    Mat* chunk = pool_->Take();
    if (chunk == nullptr) {
      for (; chunks_.size() > had; chunks_.pop_back()) pool_->Give(chunks_.back());
      return false;
    }
    chunks_.push_back(chunk);
  }
  for (int64_t r = 0; r < rows.rows; ++r, ++size_) {
    const int64_t at = dropped_ + size_;
    Mat& chunk = *chunks_[static_cast<size_t>(at / kRows)];
    std::copy_n(rows.Row(r), rows.cols, chunk.View().Row(at % kRows));
  }
  return true;
}

void HiddenRows::CopyFirst(MatView out) const {
  assert(out.rows <= size_);
  constexpr int64_t kRows = HiddenRowPool::kChunkRows;
  for (int64_t r = 0; r < out.rows; ++r) {
    const int64_t at = dropped_ + r;
    const Mat& chunk = *chunks_[static_cast<size_t>(at / kRows)];
    std::copy_n(chunk.View().Row(at % kRows), out.cols, out.Row(r));
  }
}

void HiddenRows::DropFirst(int64_t rows) noexcept {
  assert(rows <= size_);
  dropped_ += rows;
  size_ -= rows;
  // Of chunks without a row that is left; an empty queue holds none.
  const int64_t read =
      size_ == 0 ? static_cast<int64_t>(chunks_.size()) : dropped_ / HiddenRowPool::kChunkRows;
  for (int64_t i = 0; i < read; ++i) pool_->Give(chunks_[static_cast<size_t>(i)]);
  chunks_.erase(chunks_.begin(), chunks_.begin() + read);
  dropped_ = size_ == 0 ? 0 : dropped_ % HiddenRowPool::kChunkRows;
}

}  // namespace platen
