#include "model/hub/hub_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "model/support/error.h"
#include "model/support/hash.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxRefBytes = 64;
constexpr size_t kShortestPrefix = 7;
constexpr int kMaxSnapshotEntries = 20'000;

std::optional<fs::path> FolderFrom(const char* variable, const char* below) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return fs::path(value) / below;
}

[[noreturn]] void Fail(const fs::path& path, const std::string& reason) {
  throw Error(ErrorKind::kModel, {.file = path.string(), .field = {}}, reason);
}

std::string FetchWords(const ModelName& model) {
  return "platen fetch " + model.Text() + " downloads it";
}

// The commit that refs/REVISION names; nothing if there is no such file.
std::optional<std::string> CommitOfRef(const fs::path& folder, const ModelName& model) {
  const fs::path path = folder / "refs" / model.revision;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string text(kMaxRefBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (!IsCommit(text)) {
    Fail(path, "is not the 40 hexadecimal digits of a commit; " + FetchWords(model) + " anew");
  }
  return text;
}

// The only snapshot whose commit begins with `prefix`; nothing if there is none.
std::optional<std::string> CommitOfPrefix(const fs::path& folder, const std::string& prefix) {
  if (prefix.size() < kShortestPrefix || !IsHex(prefix, prefix.size())) return std::nullopt;
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(folder / "snapshots", error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (IsCommit(name) && name.starts_with(prefix)) found.push_back(name);
  }
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) {
    std::sort(found.begin(), found.end());
    Fail(folder, "more than one commit begins with " + prefix + ": " + found[0] + ", " + found[1]);
  }
  return found[0];
}

bool IsBelow(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

// Links of a snapshot lead to files of the model's own folder. A cache may have come from
// elsewhere.
void CheckLinks(const fs::path& snapshot, const fs::path& folder, const ModelName& model) {
  const fs::path home = fs::canonical(folder);
  if (!IsBelow(fs::canonical(snapshot), home)) Fail(snapshot, "leads out of the model's folder");
  int entries = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(snapshot)) {
    if (++entries > kMaxSnapshotEntries) Fail(snapshot, "holds too many files");
    if (!entry.is_symlink()) continue;
    std::error_code error;
    const fs::path target = fs::canonical(entry.path(), error);
    if (error) Fail(entry.path(), "was not downloaded completely; " + FetchWords(model));
    if (!IsBelow(target, home)) Fail(entry.path(), "is a link out of the model's folder");
    if (!fs::is_regular_file(target)) Fail(entry.path(), "is a link to what is no file");
  }
}

}  // namespace

std::string HubCacheFolder() {
  for (const auto& [variable, below] : {std::pair{"HF_HUB_CACHE", ""},
                                        {"HF_HOME", "hub"},
                                        {"XDG_CACHE_HOME", "huggingface/hub"},
                                        {"HOME", ".cache/huggingface/hub"}}) {
    const auto folder = FolderFrom(variable, below);
    if (!folder) continue;
    const std::string path = folder->lexically_normal().string();
    return path.size() > 1 && path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  }
  throw Error(ErrorKind::kEnvironment, {.file = {}, .field = "HF_HUB_CACHE"},
              "is not set, and neither is HOME: say where downloaded models are kept");
}

std::string CacheFolderName(const ModelName& model) {
  return "models--" + model.owner + "--" + model.name;
}

std::string FindCachedSnapshot(const std::string& cache, const ModelName& model) {
  const fs::path folder = fs::path(cache) / CacheFolderName(model);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    Fail(model.Text(),
         "no such folder, and no model of that name in " + cache + "; " + FetchWords(model));
  }
  std::optional<std::string> commit;
  if (IsCommit(model.revision)) commit = model.revision;
  if (!commit) commit = CommitOfRef(folder, model);
  if (!commit) commit = CommitOfPrefix(folder, model.revision);
  if (!commit || !fs::is_directory(folder / "snapshots" / *commit, ignored)) {
    Fail(model.Text(),
         "revision " + model.revision + " is not in " + folder.string() + "; " + FetchWords(model));
  }
  const fs::path snapshot = folder / "snapshots" / *commit;
  try {
    CheckLinks(snapshot, folder, model);
  } catch (const fs::filesystem_error& e) {
    Fail(snapshot, "cannot be read: " + e.code().message());
  }
  return snapshot.string();
}

bool LiesInHubCache(const std::string& model_dir) {
  std::error_code error;
  fs::path path = fs::canonical(model_dir, error);
  if (error) path = fs::path(model_dir).lexically_normal();
  return IsCommit(path.filename().string()) && path.parent_path().filename() == "snapshots" &&
         path.parent_path().parent_path().filename().string().starts_with("models--");
}

std::string FetchHint(const std::string& given) {
  const auto model = ParseModelName(given);
  return model ? "; " + FetchWords(*model) : "";
}

std::string ResolveModelFolder(const std::string& given) {
  std::error_code ignored;
  if (fs::exists(given, ignored)) return given;
  if (const auto model = ParseModelName(given)) {
    return FindCachedSnapshot(HubCacheFolder(), *model);
  }
  Fail(given, "no such folder; give a snapshot folder, or owner/name of a downloaded model");
}

}  // namespace platen
