#include "model/families/embed_rows.h"

#include <cassert>

#include "model/checkpoint/checkpoint.h"

namespace platen {

void EmbedRows(const Table& table, std::span<const TokenId> ids, MatView x) {
  assert(static_cast<int64_t>(ids.size()) == x.rows);
  for (int64_t r = 0; r < x.rows; ++r) {
    WidenRow(table.tensor, ids[static_cast<size_t>(r)], {x.Row(r), static_cast<size_t>(x.cols)});
  }
}

}  // namespace platen
