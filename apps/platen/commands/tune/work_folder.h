// The work folder of platen tune-mtp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/support/folder.h"

namespace platen {

// WORK/work.json, results/, records/, train/, evaluation.json.
class WorkFolder {
 public:
  // Throws Error(kInput) if it is missing and not to be made.
  WorkFolder(const std::string& path, Folder::Missing missing);

  const Folder& folder() const { return folder_; }
  std::string results() const { return folder_.path() + "/results"; }
  std::string records() const { return folder_.path() + "/records"; }
  Folder Train(Folder::Missing missing) const { return folder_.Below("train", missing); }

  // Which model the pages were recorded with. Throws Error(kInput) if they were with another.
  void KeepModel(const std::string& dir) const;
  // Empty: not known.
  std::string Model() const;

  static constexpr const char* kLog = "log.jsonl";  // in train/, a line a step
  static constexpr const char* kEvaluation = "evaluation.json";

 private:
  Folder folder_;
};

// Writes a file of the work folder at once, in place of what has the name. Throws
// Error(kEnvironment).
void WriteJson(const Folder& folder, const std::string& name, const nlohmann::ordered_json& json);

}  // namespace platen
