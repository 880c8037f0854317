#include "model/engine/drafters/draft_vocabulary.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen {
namespace {

constexpr const char* kFormat = "platen-draft-vocabulary-1";
constexpr size_t kMostFileBytes = 32 << 20;

}  // namespace

std::vector<TokenId> ChooseDraftVocabulary(std::span<const int64_t> counts,
                                           std::span<const TokenId> always, size_t size) {
  std::vector<TokenId> ids(counts.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<char> kept(counts.size(), 0);
  for (const TokenId id : always) kept[static_cast<size_t>(id)] = 1;
  std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
    const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    return kept[i] != kept[j] ? kept[i] > kept[j] : counts[i] > counts[j];
  });
  ids.resize(std::min(ids.size(), size));
  return ids;
}

std::vector<TokenId> ReadDraftVocabulary(const std::string& path, int vocab_size) {
  const nlohmann::json json = [&] {
    try {
      return ReadJsonFile(path, kMostFileBytes);
    } catch (const Error& e) {
      throw Error(ErrorKind::kUsage, e.location(), e.reason());
    }
  }();
  try {
    const JsonObject file(json, path);
    file.RefuseUnknownKeys({"format", "vocab_size", "ids"});
    const std::string format = file.String("format", 64);
    if (format != kFormat) {
      file.Fail("format", "is " + JsonExcerpt(format) + "; this program reads " + kFormat);
    }
    if (const int size = file.Int("vocab_size", 1, 1 << 24); size != vocab_size) {
      file.Fail("vocab_size", "is " + std::to_string(size) + ", the model's is " +
                                  std::to_string(vocab_size) +
                                  "; make one for this model with platen draft-vocabulary");
    }
    const nlohmann::json& list = file.Required("ids");
    if (!list.is_array() || list.empty()) file.Fail("ids", "must be a list of token ids");
    std::vector<TokenId> ids;
    std::vector<char> seen(static_cast<size_t>(vocab_size), 0);
    for (const nlohmann::json& value : list) {
      const auto id = static_cast<TokenId>(file.CheckedInt("ids", value, 0, vocab_size - 1));
      if (seen[static_cast<size_t>(id)]++ != 0) {
        file.Fail("ids", "names " + std::to_string(id) + " twice");
      }
      ids.push_back(id);
    }
    return ids;
  } catch (const Error& e) {
    throw Error(ErrorKind::kUsage, e.location(), e.reason());
  }
}

std::string DraftVocabularyText(std::span<const TokenId> ids, int vocab_size) {
  const nlohmann::ordered_json json = {
      {"format", kFormat}, {"vocab_size", vocab_size}, {"ids", ids}};
  return json.dump() + "\n";
}

}  // namespace platen
