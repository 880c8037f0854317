// What a hub says about the files of a repository, checked before anything is made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace platen {

// A file of a repository. Its digest is the name of its blob in the cache.
struct HubFile {
  std::string path;  // relative, without ".." or control characters
  int64_t size = 0;
  std::string digest;  // hexadecimal; SHA-256 of a large file (LFS), else git's SHA-1 of a blob
  bool is_large = false;
};

// Larger answers are refused.
inline constexpr size_t kMaxHubJsonBytes = 16 << 20;
inline constexpr size_t kMaxHubFiles = 10'000;
inline constexpr int64_t kMaxHubFileBytes = int64_t{1} << 44;

// The files of one page of /api/models/REPOSITORY/tree/COMMIT. `source` is its URL, for messages.
// Throws Error(kModel) for anything missing, out of range, or a path that could leave its folder.
std::vector<HubFile> ParseTreePage(std::string_view json, const std::string& source);

// The commit of /api/models/REPOSITORY/revision/REVISION. Throws Error(kModel).
std::string ParseCommit(std::string_view json, const std::string& source);

// The next page's URL in the value of a Link header; nothing: this was the last.
std::optional<std::string> NextPage(std::string_view link_header);

// Throws Error(kModel) for a path that is not plainly one of a file below the repository's folder.
void CheckHubPath(const std::string& path, const std::string& source);

// Whether a model is run with the file, or shown its licence by it. The one list of them.
bool IsSnapshotFile(std::string_view path);

}  // namespace platen
