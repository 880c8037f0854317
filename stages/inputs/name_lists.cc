#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "model/support/json_fields.h"
#include "stages/inputs/discover.h"
#include "stages/inputs/name_bytes.h"

namespace platen {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The run of digits at `at`, without leading zeros.
std::string_view DigitRun(const std::string& s, size_t at, size_t& end) {
  end = at;
  while (end < s.size() && IsDigit(s[end])) ++end;
  while (at + 1 < end && s[at] == '0') ++at;
  return std::string_view(s).substr(at, end - at);
}

// A line of failures.jsonl; nothing: a name like any other.
std::optional<ListedInput> RecordIn(const std::string& line) {
  constexpr size_t kMostBytes = 64 << 10;
  if (!line.starts_with('{') || line.size() > kMostBytes) return std::nullopt;
  const auto json = ParseShallow<nlohmann::json>(line);
  if (!json.is_object()) return std::nullopt;
  const auto path = NameIn(json, "path");
  if (!path) return std::nullopt;
  return ListedInput{*path, NameIn(json, "output").value_or("")};
}

}  // namespace

std::vector<ListedInput> ParseNameList(const std::string& bytes) {
  const bool nul_separated = bytes.find('\0') != std::string::npos;
  const char separator = nul_separated ? '\0' : '\n';
  std::vector<ListedInput> names;
  std::set<std::string> failed;
  size_t start = 0;
  while (start < bytes.size()) {
    const size_t end = std::min(bytes.find(separator, start), bytes.size());
    std::string name = bytes.substr(start, end - start);
    if (!nul_separated && !name.empty() && name.back() == '\r') name.pop_back();
    const bool is_comment = !nul_separated && name.starts_with('#');
    if (const auto record = RecordIn(name)) {
      if (failed.insert(record->name).second) names.push_back(*record);
    } else if (!name.empty() && !is_comment) {
      names.push_back({std::move(name)});
    }
    start = end + 1;
  }
  return names;
}

bool NaturalLess(const std::string& a, const std::string& b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (IsDigit(a[i]) && IsDigit(b[j])) {
      size_t i_end = 0, j_end = 0;
      const std::string_view x = DigitRun(a, i, i_end);
      const std::string_view y = DigitRun(b, j, j_end);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      i = i_end;
      j = j_end;
    } else {
      if (a[i] != b[j]) {
        return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      }
      ++i;
      ++j;
    }
  }
  if ((i == a.size()) != (j == b.size())) return i == a.size();
  return a < b;  // equal but for leading zeros: any fixed order
}

}  // namespace platen
