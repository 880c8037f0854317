// Output heads of snapshots whose config ties them to the embedding.
#pragma once

#include <string>

#include "model/checkpoint/checkpoint.h"

namespace platen {

// As the references do, keeps a stored head that differs from the embedding although the config
// ties the two: `tied` becomes false. Reads both tables if it is true and both are there. Returns a
// sentence to tell the user; empty: nothing unusual.
std::string SettleTiedHead(const Checkpoint& checkpoint, const std::string& embedding, bool& tied);

}  // namespace platen
