#include <algorithm>
#include <string_view>

#include "stages/inputs/discover.h"

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

}  // namespace

std::vector<std::string> ParseNameList(const std::string& bytes) {
  const bool nul_separated = bytes.find('\0') != std::string::npos;
  const char separator = nul_separated ? '\0' : '\n';
  std::vector<std::string> names;
  size_t start = 0;
  while (start < bytes.size()) {
    const size_t end = std::min(bytes.find(separator, start), bytes.size());
    std::string name = bytes.substr(start, end - start);
    if (!nul_separated && !name.empty() && name.back() == '\r') name.pop_back();
    const bool is_comment = !nul_separated && name.starts_with('#');
    if (!name.empty() && !is_comment) names.push_back(std::move(name));
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
