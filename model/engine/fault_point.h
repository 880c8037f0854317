// Named places of a round at which a test can make something fail.
//
// The places are in every build, so that what is tested is what ships; without a function they cost
// a comparison. (A hook that only test builds have would test another program.)
#pragma once

#include <functional>
#include <string_view>

#include "model/ops/tensor.h"

namespace platen {

// Called with the name of the place, and with the rows that were just made if there are any, which
// it may spoil. What it throws is a fault at that place.
using FaultPoint = std::function<void(std::string_view place, MatView rows)>;

}  // namespace platen
