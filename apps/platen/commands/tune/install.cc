// platen tune-mtp install.

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/commands/tune/tune_programs.h"
#include "apps/platen/commands/tune/work_folder.h"
#include "model/checkpoint/checkpoint.h"
#include "model/support/atomic_file.h"
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
};

Found ReadEvaluation(const WorkFolder& work) {
  const std::string path = work.folder().PathOf(WorkFolder::kEvaluation);
  if (!work.folder().Look(WorkFolder::kEvaluation)) {
    throw Error(ErrorKind::kInput, {.file = path, .field = {}},
                "is not there; run platen tune-mtp evaluate first");
  }
  return WithErrorKind(ErrorKind::kInput, [&] {
    const nlohmann::json json = ReadJsonFile(path, kMostEvaluation);
    const JsonObject object(json, path);
    return Found{object.String("head_hash", 64), object.String("verdict", 64)};
  });
}

void Forget(const WorkFolder& work) {
  for (const std::string& name : {work.records(), work.results()}) {
    std::error_code error;
    if (std::filesystem::is_symlink(name)) continue;  // not ours
    std::filesystem::remove_all(name, error);
    if (error) Log(LogLevel::kWarning, name + ": cannot be removed (" + error.message() + ")");
  }
}

}  // namespace

int RunInstall(const Settings& settings) {
  const WorkFolder work(settings.positional()[0], Folder::Missing::kFail);
  const Found found = ReadEvaluation(work);
  const std::string best = work.Train(Folder::Missing::kFail).PathOf(Tuner::kBestFile);
  const MappedFile file(best);
  const std::string_view bytes(reinterpret_cast<const char*>(file.data().data()),
                               file.data().size());
  if (HashHex(bytes) != found.head_hash) {
    throw Error(ErrorKind::kInput, {.file = best, .field = {}},
                "is not what was evaluated; run platen tune-mtp evaluate again");
  }
  if (found.verdict != "better") {
    Log(LogLevel::kError, "nothing is installed: the evaluation found " + found.verdict);
    return kExitSomeFailed;
  }
  Checkpoint::OpenFile(best);  // whole and sound
  const std::string& named = settings.Text("output");
  const std::string path = named.empty() ? work.folder().PathOf("draft-head.safetensors") : named;
  ReplaceFile(path, bytes, Folder::Missing::kCreate);
  if (settings.Flag("forget")) Forget(work);
  fmt::print("written   {}\nuse       platen ocr scans -o text --draft-head {}\n",
             DisplayName(path), DisplayName(path));
  return kExitDone;
}

}  // namespace platen
