// What every model of the program says of itself: its modules, and facts for `platen inspect`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/checkpoint/module_table.h"

namespace platen {

// One heading of `platen inspect` with its lines: what is measured, and its value.
struct FactSection {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;
};

class DescribedModel {
 public:
  virtual ~DescribedModel() = default;

  // Every module, bound to members of its own.
  virtual ModuleTable Modules() const = 0;

  // What config.json says, for people and as JSON.
  virtual std::vector<FactSection> Facts() const = 0;
  virtual nlohmann::ordered_json ConfigJson() const = 0;
};

}  // namespace platen
