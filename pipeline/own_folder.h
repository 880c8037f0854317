// The state of runs, OUT/.platen: whatever is wrong with it is the environment's fault.
#pragma once

#include <utility>

#include "model/support/error.h"

namespace platen {

template <typename Work>
auto OnOwnFolder(Work&& work) {
  return WithErrorKind(ErrorKind::kEnvironment, std::forward<Work>(work));
}

}  // namespace platen
