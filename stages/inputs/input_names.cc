#include "stages/inputs/input_names.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace platen {
namespace {

namespace fs = std::filesystem;

// Everything that can be resolved is.
std::string Physical(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                             &std::free);
  return resolved ? std::string(resolved.get()) : path;
}

bool StripPrefix(const std::string& root, const std::string& path, std::string& below) {
  if (path == root) {
    below.clear();
    return true;
  }
  const std::string prefix = root == "/" ? "/" : root + "/";
  if (!path.starts_with(prefix)) return false;
  below = path.substr(prefix.size());
  return true;
}
}  // namespace

std::string Normalised(const std::string& path) {
  std::string text = fs::path(path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::string AbsolutePath(const std::string& path) {
  const fs::path whole = fs::absolute(fs::path(path));
  // As far as the last "..", the system resolves; what follows is a name like any other.
  fs::path resolved, rest;
  for (const fs::path& part : whole) {
    rest /= part;
    if (part != "..") continue;
    resolved = resolved.empty() ? rest : resolved / rest;
    rest.clear();
  }
  if (resolved.empty()) return Normalised(whole.string());
  return Normalised((fs::path(Physical(resolved.string())) / rest).string());
}

std::string LastName(const std::string& path) {
  const std::string normalised = Normalised(path);
  const std::string name = fs::path(normalised).filename().string();
  if (!name.empty() && name != "." && name != "..") return name;
  return fs::path(AbsolutePath(path)).filename().string();
}

bool PathBelow(const std::string& root, const std::string& absolute, std::string& below) {
  if (StripPrefix(root, absolute, below)) return true;
  const fs::path path(absolute);
  const std::string parent = Physical(path.parent_path().string());
  return StripPrefix(Physical(root), JoinNames(parent, path.filename().string()), below);
}

std::string CommonFolder(const std::string& a, const std::string& b) {
  const fs::path first = fs::path(a).parent_path(), second = fs::path(b).parent_path();
  const auto [end, unused] =
      std::mismatch(first.begin(), first.end(), second.begin(), second.end());
  fs::path common;
  for (auto part = first.begin(); part != end; ++part) common /= *part;
  return common.string();
}

std::string JoinNames(const std::string& folder, const std::string& name) {
  if (folder.empty() || folder == ".") return name;
  if (name.empty() || name == ".") return folder;
  return folder.back() == '/' ? folder + name : folder + "/" + name;
}

}  // namespace platen
