#include "apps/platen/commands/tune/work_folder.h"

#include <filesystem>

#include "model/support/atomic_file.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen {
namespace {

constexpr const char* kWork = "work.json";
constexpr size_t kMostBytes = 1 << 16;

// A folder that record makes.
Folder OpenRecorded(const std::string& path, Folder::Missing missing) {
  if (missing == Folder::Missing::kFail) RefuseUnrecorded(path);
  return Folder::Open(path, missing);
}

}  // namespace

void RefuseUnrecorded(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) || error) return;
  throw Error(ErrorKind::kEnvironment, {.file = path, .field = {}},
              "there is no such folder; platen tune-mtp record makes it");
}

WorkFolder::WorkFolder(const std::string& path, Folder::Missing missing)
    : folder_(OpenRecorded(path, missing)) {}

Folder WorkFolder::Train(Folder::Missing missing) const {
  constexpr const char* kTrain = "train";
  if (missing == Folder::Missing::kFail && !folder_.Look(kTrain)) {
    throw Error(ErrorKind::kEnvironment, {.file = folder_.PathOf(kTrain), .field = {}},
                "nothing has been trained here; platen tune-mtp train does that");
  }
  return folder_.Below(kTrain, missing);
}

std::string WorkFolder::Model() const {
  if (!folder_.Look(kWork)) return "";
  return WithErrorKind(ErrorKind::kInput, [&] {
    const nlohmann::json json = ReadJsonFile(folder_.PathOf(kWork), kMostBytes);
    return JsonObject(json, folder_.PathOf(kWork)).String("model", kMostBytes);
  });
}

void WorkFolder::KeepModel(const std::string& dir) const {
  const std::string model = std::filesystem::weakly_canonical(dir).string();
  const std::string before = Model();
  if (before == model) return;
  if (!before.empty()) {
    throw Error(ErrorKind::kInput, {.file = folder_.path(), .field = {}},
                "holds records of another model (" + before + "); take another work folder");
  }
  WriteJson(folder_, kWork, {{"model", model}});
}

void WorkFolder::RefuseLinks() const {
  for (const char* name : {kRecords, kResults}) {
    if (folder_.Look(name)) folder_.Below(name, Folder::Missing::kFail);
  }
}

void WriteJson(const Folder& folder, const std::string& name, const nlohmann::ordered_json& json) {
  AtomicFile file(folder, "." + name + ".tmp", folder, name);
  file.Append(json.dump(1) + "\n");
  file.Commit();
}

}  // namespace platen
