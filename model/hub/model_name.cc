#include "model/hub/model_name.h"

#include <algorithm>

#include "model/support/hash.h"

namespace platen {
namespace {

constexpr size_t kMaxNameBytes = 96;  // the hub's own limit
constexpr size_t kMaxRevisionBytes = 200;

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool IsNameCharacter(char c) { return IsWordCharacter(c) || c == '.' || c == '-'; }

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsNamePart(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), IsNameCharacter) &&
         !Contains(part, "--") && !Contains(part, "..") && part.front() != '.' &&
         part.front() != '-' && part.back() != '.' && part.back() != '-';
}

}  // namespace

std::string ModelName::Text() const {
  return Repository() + (revision == "main" ? "" : "@" + revision);
}

std::optional<ModelName> ParseModelName(std::string_view text) {
  ModelName model;
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    model.revision = text.substr(at + 1);
    if (!IsRevision(model.revision)) return std::nullopt;
    text = text.substr(0, at);
  }
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || text.size() > kMaxNameBytes) return std::nullopt;
  model.owner = text.substr(0, slash);
  model.name = text.substr(slash + 1);
  if (!IsNamePart(model.owner) || !IsNamePart(model.name)) return std::nullopt;
  return model;
}

bool IsRevision(std::string_view text) {
  if (text.empty() || text.size() > kMaxRevisionBytes) return false;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find('/', start), text.size());
    const std::string_view part = text.substr(start, end - start);
    // Neither a name that git refuses nor one that is taken for an option.
    if (part.empty() || part.front() == '.' || part.front() == '-' || Contains(part, "..") ||
        !std::all_of(part.begin(), part.end(), IsNameCharacter)) {
      return false;
    }
    start = end + 1;
  }
  return true;
}

bool IsCommit(std::string_view text) { return IsHex(text, 40); }

}  // namespace platen
