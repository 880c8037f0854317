// Pages of two colours as fax code, the smallest that PDF takes.
#pragma once

#include <optional>
#include <string>

#include "model/support/image.h"

namespace platen {

// The rows in one piece of ITU-T T.6 (Group 4), black as the runs of its code. Nothing: some pixel
// is neither black nor white. The same pixels give the same bytes. Throws Error(kEnvironment) if
// libtiff cannot write it.
std::optional<std::string> ToFaxCode(const Image& image);

}  // namespace platen
