#include "model/families/folder_kind.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "model/hub/hub_cache.h"
#include "model/support/display_text.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxEntries = 10'000;
constexpr std::string_view kGgufStart = "GGUF";
constexpr std::string_view kLfsStart = "version https://git-lfs";
constexpr const char* kGguf =
    "which is not read: take the model it was made from, with its .safetensors files";

bool StartsWith(const fs::path& path, std::string_view start) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  std::ifstream in(path, std::ios::binary);
  std::string text(start.size(), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return in && text == start;
}

// Names of a folder, sorted; the first of them if there are very many.
std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end;
       !error && it != end && names.size() < kMaxEntries; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> Ending(const std::vector<std::string>& names, std::string_view end) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (name.ends_with(end)) found.push_back(name);
  }
  return found;
}

std::string WhatFile(const fs::path& path) {
  if (StartsWith(path, kGgufStart)) return std::string("a GGUF file, ") + kGguf;
  const std::string name = path.filename().string();
  if (name.ends_with(".packed")) {
    return "packed weights, which platen keeps for itself; give the snapshot's folder";
  }
  if (name.ends_with(".safetensors") || name.ends_with(".json")) {
    return "a file; give the folder it lies in";
  }
  return "a file, not a model folder";
}

bool IsPartOfSnapshot(const std::string& name) {
  return name == "tokenizer.json" || name == "preprocessor_config.json" || name == "platen.json" ||
         name.ends_with(".safetensors") || name == "model.safetensors.index.json";
}

// Of a folder without config.json.
FolderKind WhatOther(const fs::path& folder, const std::vector<std::string>& names) {
  const auto has = [&](const char* name) {
    return std::binary_search(names.begin(), names.end(), name);
  };
  if (std::any_of(names.begin(), names.end(), IsPartOfSnapshot)) {
    return {"model snapshot without config.json", true};
  }
  if (!Ending(names, ".gguf").empty()) return {std::string("a folder with a GGUF file, ") + kGguf};
  if (has("snapshots") && (has("refs") || has("blobs"))) {
    return {
        "a model of the Hugging Face cache; name it owner/name, or give a folder of snapshots/"};
  }
  if (!Ending(names, ".packed").empty()) {
    return {"packed weights without the snapshot they were made from, which is needed too"};
  }
  for (const std::string& name : names) {
    std::error_code error;
    if (!fs::exists(folder / name / "config.json", error)) continue;
    return {"not a model folder, but " + DisplayName(name) + " in it may be one"};
  }
  return {names.empty() ? "an empty folder" : "not a model folder: it has no config.json"};
}

// ", weights packed for f32 and int8"; empty: none.
std::string PackedText(const std::vector<std::string>& names) {
  constexpr std::string_view kStart = "model.", kEnd = ".packed";
  std::string text;
  for (const std::string& name : Ending(names, kEnd)) {
    if (!name.starts_with(kStart) || name.size() <= kStart.size() + kEnd.size()) continue;
    text += text.empty() ? ", weights packed for " : " and ";
    text += DisplayName(name.substr(kStart.size(), name.size() - kStart.size() - kEnd.size()));
  }
  return text;
}

}  // namespace

FolderKind KindOfFolder(const std::string& path, const FamilyRegistry& families) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return {"no such folder" + FetchHint(path)};
  if (!fs::is_directory(status)) return {WhatFile(path)};
  const std::vector<std::string> names = NamesIn(path);
  if (!std::binary_search(names.begin(), names.end(), "config.json")) {
    return WhatOther(path, names);
  }
  const std::string title = families.TitleOf(path);
  std::string what = "model snapshot, ";
  what += title.empty() ? "of no architecture that platen knows" : "architecture " + title;
  for (const std::string& name : Ending(names, ".safetensors")) {
    if (!StartsWith(fs::path(path) / name, kLfsStart)) continue;
    return {what + "; its weights were not downloaded: " + DisplayName(name) +
                " is a Git LFS pointer (git lfs pull in the folder, or platen fetch)",
            true};
  }
  return {what + PackedText(names), true};
}

}  // namespace platen
