#include "model/ops/row_batch.h"

#include <algorithm>

namespace platen {

void FindCacheRows(const RowBatch& batch, int block_tokens, std::vector<CacheRows>& rows) {
  rows.clear();
  for (const RowSlice& slice : batch.slices) {
    for (int64_t row = 0; row < slice.num_rows;) {
      const int64_t index = slice.first_index + row;
      const BlockId block = (*slice.blocks)[static_cast<size_t>(index / block_tokens)];
      const auto offset = static_cast<int>(index % block_tokens);
      const int64_t count = std::min<int64_t>(block_tokens - offset, slice.num_rows - row);
      rows.push_back({block, offset, slice.first_row + row, count});
      row += count;
    }
  }
}

}  // namespace platen
