// platen tune-mtp install.

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/commands/tune/tune_programs.h"
#include "apps/platen/commands/tune/work_folder.h"
#include "model/checkpoint/packed_paths.h"
#include "model/checkpoint/packed_weights.h"
#include "model/checkpoint/safetensors_writer.h"
#include "model/families/packing_plan.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/hash.h"
#include "model/support/json_fields.h"
#include "model/support/mapped_file.h"
#include "model/training/tuner.h"

namespace platen {
namespace {

constexpr size_t kMostEvaluation = 4 << 20;

struct Found {
  std::string head_hash;
  std::string verdict;
  std::string part;
  std::string against;
  std::vector<double> own, these;  // how often drafts 1 .. j of a round were right
};

std::vector<double> Chances(const JsonObject& acceptance, const std::string& key) {
  const nlohmann::json& list = acceptance.Required(key);
  return acceptance.Numbers(key, list.is_array() ? list.size() : 0, 0, 1);
}

Found ReadEvaluation(const WorkFolder& work) {
  const std::string path = work.folder().PathOf(WorkFolder::kEvaluation);
  if (!work.folder().Look(WorkFolder::kEvaluation)) {
    throw Error(ErrorKind::kInput, {.file = path, .field = {}},
                "is not there; run platen tune-mtp evaluate first");
  }
  return WithErrorKind(ErrorKind::kInput, [&] {
    const nlohmann::json json = ReadJsonFile(path, kMostEvaluation);
    const JsonObject object(json, path);
    const JsonObject acceptance = object.Object("acceptance");
    return Found{object.String("head_hash", 64), object.String("verdict", 64),
                 object.String("part", 64),      object.String("against", kMostEvaluation),
                 Chances(acceptance, "own"),     Chances(acceptance, "these")};
  });
}

// Of these weights, on documents they have not seen, against the model's own.
void CheckJudged(const Found& found, const std::string& best) {
  const MappedFile file(best);
  const std::string_view bytes(reinterpret_cast<const char*>(file.data().data()),
                               file.data().size());
  std::string reason;
  if (HashHex(bytes) != found.head_hash) {
    reason = "is not what was evaluated";
  } else if (found.part != "judge") {
    reason = "was evaluated on documents that it was trained on (--part " + found.part + ")";
  } else if (!found.against.empty()) {
    reason = "was compared with " + found.against + ", not with the model's own drafts";
  }
  if (reason.empty()) return;
  throw Error(ErrorKind::kInput, {.file = best, .field = {}},
              reason + "; run platen tune-mtp evaluate again");
}

std::string Joined(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    text += fmt::format("{}{:.4f}", text.empty() ? "" : ",", number);
  }
  return text;
}

// The weights with what the evaluation found, by which a run sees whether they are still better.
void Write(const Checkpoint& best, const Found& found, const std::string& path) {
  std::vector<StoredTensor> tensors;
  for (const auto& [name, tensor] : best.tensors()) tensors.push_back(tensor);
  std::map<std::string, std::string> metadata = best.metadata();
  metadata[DraftFileFacts::kOwnAcceptance] = Joined(found.own);
  metadata[DraftFileFacts::kAcceptance] = Joined(found.these);
  const auto [folder, name] = Folder::OpenParent(path, Folder::Missing::kCreate);
  WriteSafetensors(folder, name, tensors, metadata);
}

// Where every run of this user finds them.
std::string Install(const Checkpoint& best, const Found& found, const std::string& model,
                    const std::string& packed_dir) {
  const std::string path = DraftHeadPaths(packed_dir, model).at(0);
  Write(best, found, path);
  return path;
}

// Files of packed weights that are kept for the model carry the new drafts, too.
void PackAnew(const std::string& model, const std::string& packed_dir) {
  const Snapshot snapshot = LoadSnapshot(model);
  for (const Precision precision : {Precision::kInt8, Precision::kF32}) {
    PackingOptions packing;
    packing.paths = PackedPaths(packed_dir, model, precision);
    packing.inform = [](const std::string& text) { Log(LogLevel::kInfo, text); };
    packing.warn = [](const std::string& text) { Log(LogLevel::kWarning, text); };
    for (const std::string& path : packing.paths) {
      if (!FileExists(path)) continue;
      const PackingPlan plan(snapshot, precision,
                             InstalledDraftHead(DraftHeadPaths(packed_dir, model)), packing);
      try {
        WritePacked(path, plan.subject(), packing);
      } catch (const Error& e) {  // packed into memory at the next start
        Log(LogLevel::kWarning, e.what());
      }
    }
  }
}

// False, with a warning: it is still there. What a link leads to is not ours.
bool Removed(const Folder& folder, const char* name) {
  const auto entry = folder.Look(name);
  if (!entry) return true;
  std::string reason = "is a symbolic link; what it leads to stays, remove it yourself";
  if (!S_ISLNK(entry->st_mode)) {
    std::error_code error;
    std::filesystem::remove_all(folder.PathOf(name), error);
    if (!error) return true;
    reason = "cannot be removed (" + error.message() + ")";
  }
  Log(LogLevel::kWarning, DisplayName(folder.PathOf(name)) + ": " + reason);
  return false;
}

// What holds text or pictures of pages, of the general set too. False: some of it is still there.
bool Forget(const Folder& work) {
  bool all = true;
  for (const char* name : {WorkFolder::kRecords, WorkFolder::kResults, WorkFolder::kInspection}) {
    all = Removed(work, name) && all;
  }
  const auto general = work.Look(WorkFolder::kGeneral);
  if (general && S_ISLNK(general->st_mode)) return Removed(work, WorkFolder::kGeneral) && all;
  if (!general || !S_ISDIR(general->st_mode)) return all;
  return Forget(work.Below(WorkFolder::kGeneral, Folder::Missing::kFail)) && all;
}

std::string ModelOf(const Settings& settings, const WorkFolder& work) {
  const std::string& named = settings.Text("model");
  return LocateModel(named.empty() ? work.Model() : named);
}

}  // namespace

int RunInstall(const Settings& settings) {
  const WorkFolder work(settings.positional()[0], Folder::Missing::kFail);
  const Found found = ReadEvaluation(work);
  const std::string best = work.Train(Folder::Missing::kFail).PathOf(Tuner::kBestFile);
  CheckJudged(found, best);
  if (found.verdict != "better") {
    Log(LogLevel::kError, "nothing is installed: the evaluation found " + found.verdict);
    return kExitSomeFailed;
  }
  const Checkpoint weights = Checkpoint::OpenFile(best);
  const std::string& named = settings.Text("output");
  if (!named.empty()) {
    Write(weights, found, named);
    fmt::print("written   {}\nuse       platen ocr scans -o text --draft-head {}\n",
               DisplayName(named), DisplayName(named));
  } else {
    const std::string model = ModelOf(settings, work);
    const std::string path = Install(weights, found, model, settings.Text("packed-dir"));
    PackAnew(model, settings.Text("packed-dir"));
    fmt::print("installed {}\nfor       every run with {}\nundo      rm {}\n", DisplayName(path),
               DisplayName(model), DisplayName(path));
  }
  if (settings.Flag("forget") && !Forget(work.folder())) return kExitEnvironment;
  return kExitDone;
}

}  // namespace platen
