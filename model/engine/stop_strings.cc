#include "model/engine/stop_strings.h"

#include <algorithm>

#include "model/support/error.h"
#include "model/tokenizer/tokenizer.h"

namespace platen {

void CheckStopStrings(std::span<const std::string> stops) {
  if (stops.size() > kMostStopStrings) {
    throw Error(ErrorKind::kInput, {"", "stop"},
                "has more than " + std::to_string(kMostStopStrings) + " texts");
  }
  for (const std::string& stop : stops) {
    if (stop.empty() || stop.size() > kMostStopStringBytes) {
      throw Error(ErrorKind::kInput, {"", "stop"},
                  "a text must have 1 to " + std::to_string(kMostStopStringBytes) + " bytes");
    }
  }
}

// The newest token and as many bytes before it as the longest text may have.
bool EndsWithStopString(const Tokenizer& tokenizer, std::span<const std::string> stops,
                        std::span<const TokenId> tokens) {
  if (stops.empty() || tokens.empty()) return false;
  size_t longest = 0;
  for (const std::string& stop : stops) longest = std::max(longest, stop.size());
  const size_t newest = tokenizer.Bytes(tokens.back(), true).size();
  if (newest == 0) return false;
  size_t first = tokens.size() - 1, bytes = newest;
  while (first > 0 && bytes < newest + longest - 1) {
    bytes += tokenizer.Bytes(tokens[--first], true).size();
  }
  std::string tail;
  for (; first < tokens.size(); ++first) tail += tokenizer.Bytes(tokens[first], true);
  return std::any_of(stops.begin(), stops.end(), [&](const std::string& stop) {
    for (size_t at = tail.find(stop); at != std::string::npos; at = tail.find(stop, at + 1)) {
      if (at + stop.size() > tail.size() - newest) return true;
    }
    return false;
  });
}

void CutAtStopString(std::span<const std::string> stops, std::string& text) {
  size_t end = text.size();
  for (const std::string& stop : stops) end = std::min(end, text.find(stop));
  text.resize(end);
}

}  // namespace platen
