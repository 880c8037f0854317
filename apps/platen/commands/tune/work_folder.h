// The work folder of platen tune-mtp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/support/error.h"
#include "model/support/folder.h"

namespace platen {

// WORK/work.json, results/, records/, train/, evaluation.json.
class WorkFolder {
 public:
  // Throws Error(kEnvironment) if it is missing and not to be made.
  WorkFolder(const std::string& path, Folder::Missing missing);

  const Folder& folder() const { return folder_; }
  std::string results() const { return folder_.PathOf(kResults); }
  std::string records() const { return folder_.PathOf(kRecords); }
  Folder Train(Folder::Missing missing) const;

  // Which model the pages were recorded with. Throws Error(kInput) if they were with another.
  void KeepModel(const std::string& dir) const;
  // Empty: not known.
  std::string Model() const;

  // Throws Error(kInput) if records or results would be written through a link.
  void RefuseLinks() const;

  static constexpr const char* kResults = "results";
  static constexpr const char* kRecords = "records";
  static constexpr const char* kLog = "log.jsonl";  // in train/, a line a step
  static constexpr const char* kEvaluation = "evaluation.json";
  static constexpr const char* kInspection = "inspect.html";
  static constexpr const char* kGeneral = "general";  // a work folder with pages of other kinds

 private:
  Folder folder_;
};

// What is wrong with the work folder is an error of use: exit code 1 has a meaning of its own here
// (a page failed, no gain).
template <class Work>
auto WithoutExitOne(const Work& work) {
  try {
    return work();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    throw Error(ErrorKind::kUsage, e.location(), e.reason(), e.code());
  }
}

// Throws Error(kEnvironment) that says what to do if a folder that record makes is missing.
void RefuseUnrecorded(const std::string& path);

// Writes a file of the work folder at once, in place of what has the name. Throws
// Error(kEnvironment).
void WriteJson(const Folder& folder, const std::string& name, const nlohmann::ordered_json& json);

}  // namespace platen
