// The families this program knows, by the model_type of config.json.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/families/architecture.h"

namespace platen {

// Immutable after it is filled; reading is thread-safe.
class FamilyRegistry {
 public:
  // Reads the config files of a snapshot folder of this family. Throws Error(kModel) naming file
  // and field for anything missing, of the wrong type, out of range or contradictory.
  using ReadConfig = std::function<std::unique_ptr<Architecture>(const std::string& snapshot_dir)>;

  // The families that come with the program.
  static const FamilyRegistry& BuiltIn();

  void Add(const std::string& model_type, ReadConfig read) {
    families_[model_type] = std::move(read);
  }

  // By model_type of the folder's config.json. Throws Error(kModel); for an unknown type it names
  // those that are known.
  std::unique_ptr<Architecture> Read(const std::string& snapshot_dir) const;

 private:
  std::map<std::string, ReadConfig> families_;
};

}  // namespace platen
