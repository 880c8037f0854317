#include "model/tokenizer/tokenizer_file.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen {
namespace {

using nlohmann::json;

constexpr size_t kMaxFileBytes = 64 << 20;  // the released model's file has 6.8 MB
constexpr TokenId kMaxTokenId = (1 << 20) - 1;
constexpr size_t kMaxMerges = 2'000'000;
constexpr size_t kMaxTokenBytes = 4096;
constexpr size_t kMaxAddedTokens = 10'000;
constexpr size_t kMaxAddedTokenBytes = 256;

// GPT-2's pattern, which the ByteLevel step of the reference has built in.
constexpr const char* kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Bytes an entry decodes to. A string with a character outside the byte map stands for itself, as
// in the reference's decoder; no text encodes to it.
std::string DecodedBytes(const std::string& text) {
  return BytesOfByteLevelText(text).value_or(text);
}

class FileReader {
 public:
  FileReader(const JsonObject& root, const std::string& path) : root_(root), path_(path) {}

  TokenizerFile Read() {
    if (root_.Has("normalizer")) root_.Fail("normalizer", "must be null: text is encoded as it is");
    CheckPostProcessor();
    const JsonObject decoder = root_.Object("decoder");
    decoder.Required("type");
    decoder.ExpectIfPresent("type", "ByteLevel");
    TokenizerFile out{.vocabulary = {}, .added = {}, .split = ReadSplit(), .entries = {}};
    const JsonObject model = root_.Object("model");
    CheckModelOptions(model);
    ReadVocabulary(model.Object("vocab"), out);
    ReadMerges(model, out);
    out.vocabulary.set_whole_words_first(model.Has("ignore_merges") && model.Bool("ignore_merges"));
    ReadAddedTokens(out);
    return out;
  }

 private:
  // ByteLevel there only adjusts offsets; templates would add tokens.
  void CheckPostProcessor() const {
    if (!root_.Has("post_processor")) return;
    const JsonObject post = root_.Object("post_processor");
    post.Required("type");
    post.ExpectIfPresent("type", "ByteLevel");
  }

  static void CheckModelOptions(const JsonObject& model) {
    model.Required("type");
    model.ExpectIfPresent("type", "BPE");
    model.ExpectIfPresent("dropout", 0.0);
    model.ExpectIfPresent("continuing_subword_prefix", "");
    model.ExpectIfPresent("end_of_word_suffix", "");
    model.ExpectIfPresent("byte_fallback", false);
  }

  // pre_tokenizer: Sequence [Split(Regex, Isolated), ByteLevel], or ByteLevel with the pattern that
  // it has built in.
  SplitPattern ReadSplit() const {
    const JsonObject pre = root_.Object("pre_tokenizer");
    if (pre.Required("type") == "ByteLevel") {
      pre.Required("add_prefix_space");
      pre.ExpectIfPresent("add_prefix_space", false);
      pre.ExpectIfPresent("use_regex", true);
      return SplitPattern(kByteLevelPattern, path_, pre.FieldName("use_regex"));
    }
    if (pre.Required("type") != "Sequence") {
      pre.Fail("type", "is " + JsonExcerpt(pre.Required("type")) +
                           "; this program knows \"Sequence\" and \"ByteLevel\"");
    }
    const json& steps = pre.Required("pretokenizers");
    if (!steps.is_array() || steps.size() != 2) {
      pre.Fail("pretokenizers",
               "must be two steps, Split and ByteLevel, not " + JsonExcerpt(steps));
    }
    const JsonObject split(steps[0], path_, "pre_tokenizer.pretokenizers[0]");
    split.Required("type");
    split.ExpectIfPresent("type", "Split");
    split.Required("behavior");
    split.ExpectIfPresent("behavior", "Isolated");
    split.ExpectIfPresent("invert", false);
    const JsonObject byte_level(steps[1], path_, "pre_tokenizer.pretokenizers[1]");
    byte_level.Required("type");
    byte_level.ExpectIfPresent("type", "ByteLevel");
    // Both are on unless the file switches them off.
    for (const char* key : {"add_prefix_space", "use_regex"}) {
      byte_level.Required(key);
      byte_level.ExpectIfPresent(key, false);
    }
    const JsonObject pattern = split.Object("pattern");
    return SplitPattern(pattern.String("Regex", kMaxTokenBytes), path_, pattern.FieldName("Regex"));
  }

  // Records what `id` decodes to. False if it is taken.
  static bool Place(TokenId id, TokenizerFile::Entry entry, TokenizerFile& out) {
    const auto index = static_cast<size_t>(id);
    if (index >= out.entries.size()) out.entries.resize(index + 1);
    if (!out.entries[index].bytes.empty()) return false;
    out.entries[index] = std::move(entry);
    return true;
  }

  static void ReadVocabulary(const JsonObject& vocab, TokenizerFile& out) {
    out.vocabulary.Reserve(vocab.value().size());
    for (const auto& [text, value] : vocab.value().items()) {
      if (text.empty() || text.size() > kMaxTokenBytes) {
        vocab.Fail(text.substr(0, 32),
                   "an entry must have 1.." + std::to_string(kMaxTokenBytes) + " bytes");
      }
      const auto id = static_cast<TokenId>(vocab.CheckedInt(text, value, 0, kMaxTokenId));
      const std::optional<std::string> bytes = BytesOfByteLevelText(text);
      if (!Place(id, {.bytes = bytes.value_or(text)}, out)) {
        vocab.Fail(text, "id " + std::to_string(id) + " is taken by another entry");
      }
      if (bytes) out.vocabulary.Add(*bytes, id);
    }
    out.num_base_tokens = vocab.value().size();
    if (const std::optional<int> byte = out.vocabulary.FirstMissingByte()) {
      vocab.Fail("", "has no entry for byte " + std::to_string(*byte));
    }
  }

  // "a b" or ["a", "b"].
  static std::optional<std::pair<std::string_view, std::string_view>> ParseMerge(
      const json& merge) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      return std::pair<std::string_view, std::string_view>(merge[0].get_ref<const std::string&>(),
                                                           merge[1].get_ref<const std::string&>());
    }
    if (!merge.is_string()) return std::nullopt;
    const std::string_view text = merge.get_ref<const std::string&>();
    const size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
      return std::nullopt;
    }
    return std::pair(text.substr(0, space), text.substr(space + 1));
  }

  void ReadMerges(const JsonObject& model, TokenizerFile& out) const {
    const json& merges = model.Required("merges");
    if (!merges.is_array() || merges.size() > kMaxMerges) {
      model.Fail("merges", "must be an array of at most " + std::to_string(kMaxMerges) + " pairs");
    }
    out.vocabulary.ReserveMerges(merges.size());
    for (size_t i = 0; i < merges.size(); ++i) {
      const auto fail = [&](const std::string& reason) {
        model.Fail("merges[" + std::to_string(i) + "]", reason);
      };
      const auto pair = ParseMerge(merges[i]);
      if (!pair) fail("must be \"a b\" or [\"a\", \"b\"], not " + JsonExcerpt(merges[i]));
      const auto left = BytesOfByteLevelText(pair->first);
      const auto right = BytesOfByteLevelText(pair->second);
      const auto left_id = left ? out.vocabulary.Find(*left) : std::nullopt;
      const auto right_id = right ? out.vocabulary.Find(*right) : std::nullopt;
      const auto merged_id =
          left_id && right_id ? out.vocabulary.Find(*left + *right) : std::nullopt;
      if (!merged_id) {
        fail(JsonExcerpt(merges[i]) +
             ": one of the two or their concatenation is not in the vocabulary");
      }
      out.vocabulary.AddMerge(*left_id, *right_id, *merged_id);
    }
  }

  void ReadAddedTokens(TokenizerFile& out) const {
    const json& tokens = root_.Required("added_tokens");
    if (!tokens.is_array() || tokens.size() > kMaxAddedTokens) {
      root_.Fail("added_tokens", "must be an array of at most " + std::to_string(kMaxAddedTokens));
    }
    for (size_t i = 0; i < tokens.size(); ++i) {
      const JsonObject token(tokens[i], path_, "added_tokens[" + std::to_string(i) + "]");
      for (const char* key : {"single_word", "lstrip", "rstrip", "normalized"}) {
        token.ExpectIfPresent(key, false);
      }
      AddToken(token, out);
    }
  }

  static void AddToken(const JsonObject& token, TokenizerFile& out) {
    const std::string content = token.String("content", kMaxAddedTokenBytes);
    const TokenId id = token.Int("id", 0, kMaxTokenId);
    if (content.empty()) token.Fail("content", "is empty");
    TokenizerFile::Entry entry = {.bytes = DecodedBytes(content),
                                  .added = true,
                                  .special = token.Has("special") && token.Bool("special")};
    // An added token may repeat a base entry, with the same id.
    const auto index = static_cast<size_t>(id);
    const bool repeats = index < out.entries.size() && !out.entries[index].added &&
                         out.entries[index].bytes == entry.bytes;
    if (repeats) {
      out.entries[index] = std::move(entry);
    } else if (!Place(id, std::move(entry), out)) {
      token.Fail("id", std::to_string(id) + " is taken by another token");
    }
    // The reference would keep the base entry's id.
    const std::optional<std::string> bytes = BytesOfByteLevelText(content);
    const std::optional<TokenId> base_id = bytes ? out.vocabulary.Find(*bytes) : std::nullopt;
    if (base_id.value_or(id) != id) {
      token.Fail("id", std::to_string(id) + ", but the vocabulary gives " + JsonExcerpt(content) +
                           " the id " + std::to_string(*base_id));
    }
    if (!out.added.Add(content, id)) {
      token.Fail("content", JsonExcerpt(content) + " is given twice");
    }
  }

  const JsonObject& root_;
  const std::string& path_;
};

}  // namespace

TokenizerFile ReadTokenizerFile(const std::string& path) {
  const json document = ReadJsonFile(path, kMaxFileBytes);
  const JsonObject root(document, path);
  return FileReader(root, path).Read();
}

}  // namespace platen
