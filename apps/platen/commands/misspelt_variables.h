// Variables of the environment that nobody reads, but that look as if they were meant for platen.
#pragma once

#include <string>
#include <vector>

namespace platen {

// A sentence for each of `environment` ("NAME=value") that is called almost like an option's
// variable, or like what platen has an answer to. Names that are near none may belong to the
// scripts around platen: nothing is said of them.
std::vector<std::string> MisspeltVariables(const std::vector<std::string>& environment);

// The same of this process.
std::vector<std::string> MisspeltVariables();

}  // namespace platen
