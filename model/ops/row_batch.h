// Rows of several sequences that pass through a decoder's layers together.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/ops/kv_cache.h"

namespace platen {

// Consecutive rows of one sequence. Row j of the slice has cache index first_index + j.
struct RowSlice {
  const BlockTable* blocks = nullptr;
  int64_t first_row = 0;
  int64_t num_rows = 0;
  int64_t first_index = 0;
};

// A ragged batch. Cache index and rope position are different numbers: after an image the position
// is the smaller one. Families without a two-dimensional position give all three axes the same.
struct RowBatch {
  std::vector<RowSlice> slices;
  std::array<std::vector<int32_t>, 3> positions;  // T, H, W rope position of every row

  int64_t num_rows() const { return static_cast<int64_t>(positions[0].size()); }
  void Clear() {
    slices.clear();
    for (auto& axis : positions) axis.clear();
  }
  // Appends a slice of rows at consecutive cache indices; positions follow by PushPosition.
  void AddSlice(const BlockTable& blocks, int64_t first_index, int64_t num_rows) {
    const int64_t first_row = slices.empty() ? 0 : slices.back().first_row + slices.back().num_rows;
    slices.push_back({&blocks, first_row, num_rows, first_index});
  }
  void PushPosition(int32_t t, int32_t h, int32_t w) {
    positions[0].push_back(t);
    positions[1].push_back(h);
    positions[2].push_back(w);
  }
};

// Consecutive rows of a batch whose keys and values go to one cache block.
struct CacheRows {
  BlockId block = 0;
  int block_offset = 0;  // of the first row
  int64_t first_row = 0;
  int64_t num_rows = 0;
};

// All rows of the batch, by row, as few pieces as there can be. Replaces `rows`.
void FindCacheRows(const RowBatch& batch, int block_tokens, std::vector<CacheRows>& rows);

}  // namespace platen
