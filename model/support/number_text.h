// Numbers as text, short and exact.
#pragma once

#include <string>

namespace platen {

// The shortest text that reads back as the same double; of a float six digits.
std::string NumberText(double value);
std::string NumberText(float value);

}  // namespace platen
