// The families this program knows, by the model_type of config.json.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/families/architecture.h"
#include "model/families/layout_model.h"

namespace platen {

// Immutable after it is filled; reading is thread-safe.
class FamilyRegistry {
 public:
  // Reads the config files of a snapshot folder of this family. Throws Error(kModel) naming file
  // and field for anything missing, of the wrong type, out of range or contradictory.
  using ReadConfig = std::function<std::unique_ptr<Architecture>(const std::string& snapshot_dir)>;

  // The families that come with the program.
  static const FamilyRegistry& BuiltIn();

  using ReadLayoutConfig =
      std::function<std::unique_ptr<LayoutArchitecture>(const std::string& snapshot_dir)>;

  // `title`: what the family is called in sentences. A snapshot whose text_config names another
  // model_type than its root is one of "ROOT/TEXT", if that was added, else one of "ROOT".
  void Add(const std::string& model_type, const std::string& title, ReadConfig read) {
    families_[model_type] = std::move(read);
    titles_[model_type] = title;
  }
  void AddLayout(const std::string& model_type, const std::string& title, ReadLayoutConfig read) {
    layout_families_[model_type] = std::move(read);
    titles_[model_type] = title;
  }

  // By model_type of the folder's config.json. Throws Error(kModel); for an unknown type it names
  // those that are known, for one of the other sort where it belongs.
  std::unique_ptr<Architecture> Read(const std::string& snapshot_dir) const;
  std::unique_ptr<LayoutArchitecture> ReadLayout(const std::string& snapshot_dir) const;

  // Whether the folder holds a model that finds regions, not one that reads. Does not throw: a
  // folder of which that cannot be told holds none.
  bool IsLayoutModel(const std::string& snapshot_dir) const;

  // The title of the folder's family; empty if it is not known. Does not throw Error.
  std::string TitleOf(const std::string& snapshot_dir) const;

 private:
  std::map<std::string, ReadConfig> families_;
  std::map<std::string, ReadLayoutConfig> layout_families_;
  std::map<std::string, std::string> titles_;
};

}  // namespace platen
