// A token of a model's vocabulary.
#pragma once

#include <cstdint>

namespace platen {

using TokenId = int32_t;

}  // namespace platen
