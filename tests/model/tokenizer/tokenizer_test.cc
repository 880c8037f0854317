// The tokenizer against the reference library's results on the golden tokenizers.
#include "model/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "model/support/utf8.h"
#include "tests/support/npy.h"

namespace platen {
namespace {

using nlohmann::json;
using testing::SourcePath;
using Ids = std::vector<TokenId>;

json Golden(const std::string& name) {
  std::ifstream in(SourcePath("tests/golden/" + name));
  return json::parse(in);
}

// The family without a GLM-OCR prompt has all its files in one folder.
bool IsMini(const std::string& snapshot) { return snapshot.starts_with("mini-"); }

Tokenizer LoadGolden(const std::string& snapshot) {
  const std::string folder = IsMini(snapshot) ? "minillm/" : "snapshots/";
  return Tokenizer::Load(SourcePath("tests/golden/" + folder + snapshot + "/tokenizer.json"));
}

json Cases(const std::string& snapshot, const std::string& file) {
  return Golden((IsMini(snapshot) ? "minillm/" : "tokenizer/") + snapshot + "/" + file);
}

class GoldenTokenizer : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTokenizer, EncodesEveryTextAsTheReferenceDoes) {
  const Tokenizer tokenizer = LoadGolden(GetParam());
  const json cases = Cases(GetParam(), "encode.json");
  ASSERT_GE(cases.size(), 80U);
  for (const json& c : cases) {
    EXPECT_EQ(tokenizer.Encode(c["text"].get<std::string>()), c["ids"].get<Ids>()) << c["text"];
  }
}

TEST_P(GoldenTokenizer, DecodesEveryListAsTheReferenceDoes) {
  const Tokenizer tokenizer = LoadGolden(GetParam());
  const json cases = Cases(GetParam(), "decode.json");
  ASSERT_GE(cases.size(), 100U);
  for (const json& c : cases) {
    const Ids ids = c["ids"].get<Ids>();
    EXPECT_EQ(tokenizer.Decode(ids, /*skip_special=*/false), c["text"]) << c["ids"];
    EXPECT_EQ(tokenizer.Decode(ids, /*skip_special=*/true), c["text_skip_special"]) << c["ids"];
  }
}

TEST_P(GoldenTokenizer, StreamsTheSameChunksAsTheReference) {
  const Tokenizer tokenizer = LoadGolden(GetParam());
  const json stream = Cases(GetParam(), "stream.json");
  ASSERT_GE(stream["cases"].size(), 9U);
  for (const json& c : stream["cases"]) {
    IncrementalDecoder decoder(tokenizer, /*skip_special=*/false);
    const Ids ids = c["ids"].get<Ids>();
    for (size_t i = 0; i < ids.size(); ++i) {
      const json& chunk = c["chunks"][i];
      EXPECT_EQ(decoder.Append(ids[i]), chunk.is_null() ? "" : chunk.get<std::string>())
          << c["ids"] << " at " << i;
    }
  }
}

TEST_P(GoldenTokenizer, StreamedChunksJoinToTheDecodedText) {
  const Tokenizer tokenizer = LoadGolden(GetParam());
  for (const json& c : Cases(GetParam(), "decode.json")) {
    for (const bool skip_special : {false, true}) {
      IncrementalDecoder decoder(tokenizer, skip_special);
      const Ids ids = c["ids"].get<Ids>();
      std::string joined;
      for (const TokenId id : ids) joined += decoder.Append(id);
      joined += decoder.Finish();
      EXPECT_EQ(joined, tokenizer.Decode(ids, skip_special)) << c["ids"];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Snapshots, GoldenTokenizer,
                         ::testing::Values("tiny-a", "tiny-b", "tiny-c", "mini-chat"),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Tokenizer, KnowsWhichIdsAreAddedTokens) {
  const Tokenizer tokenizer = LoadGolden("tiny-a");
  EXPECT_EQ(tokenizer.num_base_tokens(), 873U);
  EXPECT_EQ(tokenizer.num_merges(), 634U);
  EXPECT_EQ(tokenizer.num_added_tokens(), 36U);
  EXPECT_EQ(tokenizer.max_id(), 908);
  EXPECT_EQ(tokenizer.AddedTokenId("<|user|>"), 880);
  EXPECT_EQ(tokenizer.AddedTokenId("the"), std::nullopt);
  EXPECT_TRUE(tokenizer.IsAdded(880));
  EXPECT_FALSE(tokenizer.IsAdded(65));
  EXPECT_FALSE(tokenizer.IsAdded(-1));
  EXPECT_FALSE(tokenizer.IsAdded(909));
  EXPECT_EQ(tokenizer.Bytes(880, /*skip_special=*/false), "<|user|>");
  EXPECT_EQ(tokenizer.Bytes(880, /*skip_special=*/true), "");
  EXPECT_EQ(tokenizer.Bytes(909, /*skip_special=*/false), "");
}

TEST(Tokenizer, ReplacesInvalidUtf8BeforeEncoding) {
  const Tokenizer tokenizer = LoadGolden("tiny-a");
  EXPECT_EQ(tokenizer.Encode("a\xE4\xB8"), tokenizer.Encode("a\xEF\xBF\xBD"));
  EXPECT_EQ(tokenizer.Encode("\xED\xA0\x80"),
            tokenizer.Encode("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
}

// U+180E is white space to PCRE2 but has not been to Unicode since 6.3, nor to the reference.
TEST(Tokenizer, DoesNotTakeTheMongolianVowelSeparatorForWhiteSpace) {
  const Tokenizer tokenizer = LoadGolden("tiny-a");
  // Two spaces would be one token (260) if the separator continued the run of white space.
  EXPECT_EQ(tokenizer.Encode("  \xE1\xA0\x8E"), (Ids{32, 32, 0xE1, 0xA0, 0x8E}));
}

TEST(Tokenizer, EncodesALongWordInReasonableTime) {
  const Tokenizer tokenizer = LoadGolden("tiny-a");
  const std::string word(200'000, 'a');
  const Ids ids = tokenizer.Encode(word);
  EXPECT_EQ(tokenizer.Decode(ids, false), word);
}

TEST(Tokenizer, TokensEndWhereTheirTextEnds) {
  const Tokenizer tokenizer = Tokenizer::Load(SourcePath("assets/platen-mini/tokenizer.json"));
  const std::vector<TokenId> ids =
      tokenizer.Encode("a\u00e9 b");  // bytes: a, two of them, space, b
  ASSERT_EQ(ids.size(), 5U);
  const DecodedText decoded = DecodeTokens(tokenizer, ids);
  EXPECT_EQ(decoded.text, "a\u00e9 b");
  EXPECT_EQ(decoded.token_ends, (std::vector<int>{1, 1, 3, 4, 5}));
  EXPECT_TRUE(DecodeTokens(tokenizer, {}).token_ends.empty());
  // A character that is never completed is left out.
  const DecodedText cut = DecodeTokens(tokenizer, std::span(ids).first(2));
  EXPECT_EQ(cut.text, "a");
  EXPECT_EQ(cut.token_ends, (std::vector<int>{1, 1}));
}

TEST(Tokenizer, DecodedTokensJoinToTheDecodedText) {
  const Tokenizer tokenizer = Tokenizer::Load(SourcePath("assets/platen-mini/tokenizer.json"));
  std::mt19937 random(20261125);
  for (int round = 0; round < 500; ++round) {
    std::vector<TokenId> ids(random() % 40);
    for (TokenId& id : ids) id = static_cast<TokenId>(random() % (tokenizer.max_id() + 1U));
    const DecodedText decoded = DecodeTokens(tokenizer, ids);
    std::string bytes;
    for (const TokenId id : ids) bytes += tokenizer.Bytes(id, true);
    bytes.resize(bytes.size() - UnfinishedLength(bytes));
    ASSERT_EQ(decoded.text, ToValidUtf8(bytes)) << round;
    ASSERT_EQ(decoded.token_ends.size(), ids.size());
    ASSERT_TRUE(std::is_sorted(decoded.token_ends.begin(), decoded.token_ends.end()));
  }
}

// Wherever the limit of tokens falls, a text ends with a whole character.
TEST(Tokenizer, NoLimitOfTokensLeavesHalfACharacter) {
  const Tokenizer tokenizer = Tokenizer::Load(SourcePath("assets/platen-mini/tokenizer.json"));
  const std::string text = "na\u00efve \u4e2d\u6587 \U0001F642!";
  const std::vector<TokenId> ids = tokenizer.Encode(text);
  ASSERT_EQ(ids.size(), text.size());  // a token is a byte
  for (size_t limit = 0; limit <= ids.size(); ++limit) {
    const std::string cut = DecodeTokens(tokenizer, std::span(ids).first(limit)).text;
    EXPECT_TRUE(text.starts_with(cut)) << limit;
    EXPECT_LT(limit - cut.size(), 4U) << limit;
    EXPECT_TRUE(EndsWithWholeCharacter(cut)) << limit;
  }
}

TEST(Tokenizer, ReadsTheBundledModelsByteTokenizer) {
  const Tokenizer tokenizer = Tokenizer::Load(SourcePath("assets/platen-mini/tokenizer.json"));
  EXPECT_EQ(tokenizer.num_base_tokens(), 256U);
  EXPECT_EQ(tokenizer.num_merges(), 0U);
  EXPECT_EQ(tokenizer.Encode("A<|user|>\xC3\xA9"), (Ids{65, 263, 0xC3, 0xA9}));
}

struct PublishedCase {
  std::string text;
  Ids ids;
};

// Ids published for the released zai-org/GLM-OCR tokenizer.
const std::vector<PublishedCase>& PublishedCases() {
  static const auto& cases = *new std::vector<PublishedCase>{
      {"Text Recognition:", {3649, 7404, 49600, 58}},
      {"Table Recognition:", {5964, 7404, 49600, 58}},
      {"Formula Recognition:", {4000, 6062, 7404, 49600, 58}},
      {"请按下列JSON格式输出图中信息:", {2517, 2360, 14252, 11786, 12156, 8855, 38107, 2265, 58}},
      {"Hello, world!", {22519, 44, 2901, 33}},
      {"a\n\nb", {97, 378, 98}},
      {"a\r\nb", {97, 594, 98}},
      {"\n\n\n", {5387}},
      {" \n ", {1369, 32}},
      {" leading", {9449}},
      {"trailing ", {16211, 11548, 32}},
      {"a  b   c", {97, 32, 298, 256, 272}},
      {"a\tb", {97, 7740}},
      {"中文文本识别", {16982, 11868, 13625}},
      {"don't I'll we've she'd they're it's THEY'RE I'M",
       {27054, 2376, 392, 9842, 703, 11158, 2344, 11229, 1150, 6243, 524, 1106, 8088, 89, 39, 1575,
        392, 39, 77}},
      {"emoji 😀 and éè café", {12355, 5857, 38564, 128, 332, 1810, 2042, 45581}},
      {"Invoice No. 20240131-0042, total $1,234,567.89 (12.5%)",
       {928, 26268, 4355, 46, 32, 50, 48, 50, 52, 48, 49, 51, 49, 45,  48, 48, 52, 50, 44,   4902,
        773, 49,    44,   50, 51, 52, 44, 53, 54, 55, 46, 56, 57, 386, 49, 50, 46, 53, 11611}},
      {"| a | b |\n|---|---|\n| 1 | 2 |",
       {124, 261, 1067, 298, 7038, 124, 5161, 124, 5161, 3628, 124, 32, 49, 1067, 32, 50, 1067}},
      {"한국어 텍스트", {9527, 27625, 18789, 6039, 133, 141, 16636, 23219}},
  };
  return cases;
}

TEST(ReleasedTokenizer, GivesThePublishedIds) {
  const char* dir = std::getenv("PLATEN_REAL_SNAPSHOT");
  if (dir == nullptr) {
    GTEST_SKIP() << "set PLATEN_REAL_SNAPSHOT to a folder with the released GLM-OCR tokenizer.json";
  }
  const Tokenizer tokenizer = Tokenizer::Load(std::string(dir) + "/tokenizer.json");
  EXPECT_EQ(tokenizer.num_base_tokens(), 59246U);
  EXPECT_EQ(tokenizer.num_added_tokens(), 36U);
  EXPECT_EQ(tokenizer.num_merges(), 106026U);
  for (const PublishedCase& c : PublishedCases()) {
    EXPECT_EQ(tokenizer.Encode(c.text), c.ids) << c.text;
    EXPECT_EQ(tokenizer.Decode(c.ids, false), c.text);
  }
}

}  // namespace
}  // namespace platen
