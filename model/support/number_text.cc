#include "model/support/number_text.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace platen {

std::string NumberText(double value) { return nlohmann::json(value).dump(); }

std::string NumberText(float value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", static_cast<double>(value));
  return buffer;
}

}  // namespace platen
