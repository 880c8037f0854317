// Rows of an embedding table.
#pragma once

#include <span>

#include "model/checkpoint/module_table.h"
#include "model/ops/tensor.h"
#include "model/support/token_id.h"

namespace platen {

// x[r] = row ids[r] of the table, widened; x [ids.size(), columns of the table].
void EmbedRows(const Table& table, std::span<const TokenId> ids, MatView x);

}  // namespace platen
