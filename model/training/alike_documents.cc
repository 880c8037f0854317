#include "model/training/alike_documents.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_map>

#include "model/support/hash.h"

namespace platen {
namespace {

constexpr int64_t kPieceTokens = 8;
constexpr size_t kSketchSize = 64;
constexpr double kAlike = 0.8;

using Sketch = std::set<uint64_t>;  // the smallest hashes

void AddPieces(const TrainingPage& page, Sketch& sketch) {
  const int64_t tokens = page.length() - page.prompt;
  if (tokens <= 0) return;
  const int64_t piece = std::min(tokens, kPieceTokens);
  for (int64_t first = page.prompt; first + piece <= page.length(); ++first) {
    const auto* bytes = reinterpret_cast<const char*>(&page.ids[static_cast<size_t>(first)]);
    sketch.insert(Hash64({bytes, static_cast<size_t>(piece) * sizeof(TokenId)}, 0));
    if (sketch.size() > kSketchSize) sketch.erase(std::prev(sketch.end()));
  }
}

// Of the smallest hashes of both together, how many both have.
bool Alike(const Sketch& a, const Sketch& b) {
  Sketch both = a;
  both.insert(b.begin(), b.end());
  const size_t size = std::min(both.size(), kSketchSize);
  const auto end = std::next(both.begin(), static_cast<std::ptrdiff_t>(size));
  const auto shared = std::count_if(
      both.begin(), end, [&](uint64_t hash) { return a.contains(hash) && b.contains(hash); });
  return static_cast<double>(shared) >= kAlike * static_cast<double>(size);
}

}  // namespace

std::map<std::string, std::string> AlikeDocuments(const std::vector<TrainingPage>& pages) {
  std::map<std::string, Sketch> sketches;
  for (const TrainingPage& page : pages) AddPieces(page, sketches[page.document]);
  std::map<std::string, std::string> first_of;
  // Documents that are like none before them, by their hashes. A hash that many share, such as that
  // of a printed heading, leads to the first of them only; the others are found by another one.
  std::unordered_map<uint64_t, std::string_view> firsts;
  for (const auto& [document, sketch] : sketches) {
    const auto found =
        std::find_if(sketch.begin(), sketch.end(), [&, &own = sketch](uint64_t hash) {
          const auto first = firsts.find(hash);
          return first != firsts.end() && Alike(sketches.at(std::string(first->second)), own);
        });
    if (found != sketch.end()) {
      first_of[document] = firsts.at(*found);
      continue;
    }
    first_of[document] = document;
    for (const uint64_t hash : sketch) firsts.emplace(hash, document);
  }
  return first_of;
}

}  // namespace platen
