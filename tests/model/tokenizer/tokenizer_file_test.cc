// tokenizer.json: which files are accepted, and byte-pair encoding against a plain implementation.
#include "model/tokenizer/tokenizer_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "model/support/error.h"
#include "model/tokenizer/tokenizer.h"
#include "tests/support/npy.h"
#include "tests/support/snapshot_edits.h"

namespace platen {
namespace {

using nlohmann::json;
using testing::ReadFile;
using testing::SourcePath;
using testing::TempFolder;
using Ids = std::vector<TokenId>;

json TinyA() {
  return json::parse(ReadFile(SourcePath("tests/golden/snapshots/tiny-a/tokenizer.json")));
}

// Field of the refusal, or "accepted".
std::string RefusedAt(const json& document) {
  const TempFolder folder;
  try {
    ReadTokenizerFile(folder.Write("tokenizer.json", document.dump()));
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.location().file, folder / "tokenizer.json");
    return error.location().field;
  }
}

TEST(TokenizerFile, RefusesWhatWouldEncodeDifferently) {
  const std::vector<std::pair<json::json_pointer, json>> cases = {
      {json::json_pointer("/normalizer"), {{"type", "NFC"}}},
      {json::json_pointer("/post_processor"), {{"type", "TemplateProcessing"}}},
      {json::json_pointer("/decoder/type"), "WordPiece"},
      {json::json_pointer("/model/type"), "Unigram"},
      {json::json_pointer("/model/dropout"), 0.1},
      {json::json_pointer("/model/byte_fallback"), true},
      {json::json_pointer("/model/continuing_subword_prefix"), "##"},
      {json::json_pointer("/model/end_of_word_suffix"), "</w>"},
      {json::json_pointer("/pre_tokenizer/type"), "Whitespace"},
      {json::json_pointer("/pre_tokenizer/pretokenizers/0/behavior"), "Removed"},
      {json::json_pointer("/pre_tokenizer/pretokenizers/0/invert"), true},
      {json::json_pointer("/pre_tokenizer/pretokenizers/1/add_prefix_space"), true},
      {json::json_pointer("/pre_tokenizer/pretokenizers/1/use_regex"), true},
      {json::json_pointer("/added_tokens/3/normalized"), true},
      {json::json_pointer("/added_tokens/3/lstrip"), true},
      {json::json_pointer("/added_tokens/3/content"), ""},
      {json::json_pointer("/added_tokens/3/content"), "[MASK]"},
      {json::json_pointer("/added_tokens/3/id"), 65},
      {json::json_pointer("/added_tokens/3/id"), -1},
      {json::json_pointer("/added_tokens/3/id"), 2'000'000'000},
      {json::json_pointer("/model/merges/5"), "a b c"},
      {json::json_pointer("/model/merges/5"), {"a"}},
      {json::json_pointer("/model/vocab/the"), -5},
  };
  for (const auto& [pointer, value] : cases) {
    json document = TinyA();
    document[pointer] = value;
    std::string field = RefusedAt(document);
    EXPECT_NE(field, "accepted") << pointer << " = " << value;
    std::string expected = pointer.to_string().substr(1);
    std::replace(expected.begin(), expected.end(), '/', '.');
    // "added_tokens.3.id" is reported as "added_tokens[3].id".
    field.erase(std::remove(field.begin(), field.end(), ']'), field.end());
    std::replace(field.begin(), field.end(), '[', '.');
    EXPECT_TRUE(expected.starts_with(field) || field.starts_with(expected))
        << field << " for " << expected;
  }
}

TEST(TokenizerFile, RefusesPatternsWithoutTheReferencesMeaning) {
  const json::json_pointer pattern("/pre_tokenizer/pretokenizers/0/pattern/Regex");
  for (const char* bad : {"(", "\\p{Nonsense}", "a*", "[^\\S]+", "\\C"}) {
    json document = TinyA();
    document[pattern] = bad;
    EXPECT_EQ(RefusedAt(document), "pre_tokenizer.pretokenizers[0].pattern.Regex") << bad;
  }
}

TEST(TokenizerFile, ACatastrophicPatternIsAnErrorNotAHang) {
  const SplitPattern pattern("(?:a+)+$|b", "f", "p");
  std::vector<std::string_view> pieces;
  EXPECT_THROW(pattern.Split(std::string(60, 'a') + "c", pieces), Error);
}

TEST(TokenizerFile, RefusesAVocabularyWithoutEveryByte) {
  json document = TinyA();
  document["model"]["vocab"].erase("!");
  document["model"]["merges"] = json::array();
  EXPECT_EQ(RefusedAt(document), "model.vocab.");
}

TEST(TokenizerFile, AcceptsMergesAsTextAndAsPairs) {
  json document = TinyA();
  const TempFolder folder;
  const auto pairs = Tokenizer::Load(folder.Write("pairs.json", document.dump()));
  for (json& merge : document["model"]["merges"]) {
    merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  }
  const auto texts = Tokenizer::Load(folder.Write("texts.json", document.dump()));
  const std::string text = "the quick brown fox Recognition 中文 étude";
  EXPECT_EQ(pairs.Encode(text), texts.Encode(text));
  EXPECT_EQ(pairs.num_merges(), texts.num_merges());
}

TEST(TokenizerFile, AnAddedTokenMayRepeatABaseEntryUnderTheSameId) {
  json document = TinyA();
  const TokenId th = document["model"]["vocab"]["th"];
  json& token = document["added_tokens"][35];
  token["content"] = "th";
  token["id"] = th;
  EXPECT_EQ(RefusedAt(document), "accepted");
  token["id"] = 908;
  EXPECT_EQ(RefusedAt(document), "added_tokens[35].id");
}

TEST(AddedTokens, MatchLeftmostThenLongest) {
  AddedTokens tokens;
  EXPECT_TRUE(tokens.Add("<a>", 1));
  EXPECT_TRUE(tokens.Add("<a>b", 2));
  EXPECT_TRUE(tokens.Add(">b<", 3));
  EXPECT_FALSE(tokens.Add("<a>", 4));
  const auto longest = tokens.FindFirst("x<a>b<");
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->begin, 1U);
  EXPECT_EQ(longest->length, 4U);
  EXPECT_EQ(longest->id, 2);
  EXPECT_FALSE(tokens.FindFirst("<<a"));
}

// The plain definition: scan for the lowest rank, leftmost first, until nothing merges.
struct PlainMerge {
  TokenId left, right, merged;
};

Ids PlainBpe(std::string_view word, const std::vector<PlainMerge>& merges) {
  Ids ids;
  for (const char c : word) ids.push_back(static_cast<uint8_t>(c));
  for (;;) {
    size_t best_rank = merges.size();
    size_t best_at = 0;
    for (size_t at = 0; at + 1 < ids.size(); ++at) {
      for (size_t rank = 0; rank < best_rank; ++rank) {
        if (merges[rank].left == ids[at] && merges[rank].right == ids[at + 1]) {
          best_rank = rank;
          best_at = at;
        }
      }
    }
    if (best_rank == merges.size()) return ids;
    ids[best_at] = merges[best_rank].merged;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
  }
}

TEST(BpeVocabulary, MergesAsThePlainDefinitionDoesOnRandomWords) {
  constexpr uint64_t kSeed = 7;
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 20; ++round) {
    // Strings over {a, b, c}, several merge paths to most of them.
    BpeVocabulary vocabulary;
    std::vector<std::string> strings(256);
    for (int byte = 0; byte < 256; ++byte) {
      strings[static_cast<size_t>(byte)] = std::string(1, static_cast<char>(byte));
      vocabulary.Add(strings[static_cast<size_t>(byte)], byte);
    }
    std::vector<TokenId> usable = {'a', 'b', 'c'};
    std::vector<PlainMerge> merges;
    while (merges.size() < 40) {
      const TokenId left = usable[random() % usable.size()];
      const TokenId right = usable[random() % usable.size()];
      const bool known = std::any_of(merges.begin(), merges.end(), [&](const PlainMerge& m) {
        return m.left == left && m.right == right;
      });
      const std::string joined =
          strings[static_cast<size_t>(left)] + strings[static_cast<size_t>(right)];
      if (known || joined.size() > 8) continue;
      if (!vocabulary.Find(joined)) {
        const auto id = static_cast<TokenId>(strings.size());
        vocabulary.Add(joined, id);
        strings.push_back(joined);
        usable.push_back(id);
      }
      merges.push_back({left, right, *vocabulary.Find(joined)});
      vocabulary.AddMerge(left, right, merges.back().merged);
    }
    for (int i = 0; i < 50; ++i) {
      std::string word;
      for (size_t n = random() % 30; n > 0; --n) word += static_cast<char>('a' + random() % 3);
      Ids ids;
      vocabulary.Encode(word, ids);
      EXPECT_EQ(ids, PlainBpe(word, merges)) << word << ", seed " << kSeed << ", round " << round;
    }
  }
}

}  // namespace
}  // namespace platen
