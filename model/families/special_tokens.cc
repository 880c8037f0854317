#include "model/families/special_tokens.h"

#include <optional>
#include <set>

#include "model/support/json_fields.h"

namespace platen {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr int kMaxStopTokens = 64;

// A token id, or a list of them, inside the vocabulary.
std::vector<TokenId> ReadTokenIds(const JsonObject& object, const std::string& key,
                                  int vocab_size) {
  const nlohmann::json& value = object.Required(key);
  if (!value.is_array()) return {object.Int(key, 0, vocab_size - 1)};
  if (value.empty() || value.size() > kMaxStopTokens) {
    object.Fail(key, "must have 1.." + std::to_string(kMaxStopTokens) + " token ids");
  }
  return object.Ints(key, value.size(), 0, vocab_size - 1);
}

class TokenIdReader {
 public:
  TokenIdReader(const JsonObject* generation, const JsonObject& text, int vocab_size)
      : generation_(generation), text_(text), vocab_size_(vocab_size) {}

  // Empty if neither place has the key.
  std::vector<TokenId> Read(const std::string& key) const {
    std::vector<TokenId> from_text;
    if (text_.Has(key)) from_text = ReadTokenIds(text_, key, vocab_size_);
    if (generation_ == nullptr || !generation_->Has(key)) return from_text;
    std::vector<TokenId> ids = ReadTokenIds(*generation_, key, vocab_size_);
    const std::set<TokenId> ours(ids.begin(), ids.end());
    if (!from_text.empty() && ours != std::set<TokenId>(from_text.begin(), from_text.end())) {
      generation_->Fail(key, "is " + JsonExcerpt(generation_->Required(key)) + ", but " +
                                 text_.FieldName(key) + " of config.json is " +
                                 JsonExcerpt(text_.Required(key)));
    }
    return ids;
  }

 private:
  const JsonObject* generation_;
  const JsonObject& text_;
  int vocab_size_;
};

}  // namespace

SpecialTokens ReadSpecialTokens(const std::string& snapshot_dir, const JsonObject& text,
                                int vocab_size, const SpecialTokens* fallback) {
  const std::string path = SnapshotFile(snapshot_dir, "generation_config.json");
  nlohmann::json json;
  std::optional<JsonObject> generation;
  if (FileExists(path)) {
    json = ReadJsonFile(path, kMaxConfigBytes);
    generation.emplace(json, path);
  }
  const TokenIdReader reader(generation ? &*generation : nullptr, text, vocab_size);
  SpecialTokens out;
  out.stop = reader.Read("eos_token_id");
  if (out.stop.empty() && fallback != nullptr) return *fallback;
  if (out.stop.empty()) text.Fail("eos_token_id", "is missing here and in generation_config.json");
  const std::vector<TokenId> pad = reader.Read("pad_token_id");
  out.pad = pad.empty() ? out.stop.front() : pad.front();
  return out;
}

}  // namespace platen
