// Prompt text, input ids and rope positions against the reference.
#include "model/families/glm_input/chat_prompt.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/families/glm_ocr/config.h"
#include "model/families/snapshot.h"
#include "model/support/error.h"
#include "tests/support/npy.h"

namespace platen::glm_input {
namespace {

using nlohmann::json;
using platen::testing::Npy;
using platen::testing::ReadNpy;
using platen::testing::SourcePath;

json ReadJson(const std::string& path) {
  std::ifstream in(path);
  return json::parse(in);
}

ChatMessage MessageOf(const json& message) {
  ChatMessage out{.role = message["role"], .parts = {}};
  const json& content = message["content"];
  if (content.is_string()) {
    out.parts.push_back({.kind = ChatPart::Kind::kText, .text = content});
    return out;
  }
  for (const json& item : content) {
    if (item["type"] == "image") {
      out.parts.push_back({.kind = ChatPart::Kind::kImage, .text = {}});
    } else {
      out.parts.push_back({.kind = ChatPart::Kind::kText, .text = item["text"]});
    }
  }
  return out;
}

TEST(RenderChat, GivesTheReferencesTextAndIdsInAllCases) {
  const json golden = ReadJson(SourcePath("tests/golden/chat/renderings.json"));
  const Tokenizer tokenizer =
      Tokenizer::Load(SourcePath("tests/golden/snapshots/tiny-a/tokenizer.json"));
  ASSERT_EQ(golden["cases"].size(), 38U);
  for (const json& c : golden["cases"]) {
    std::vector<ChatMessage> messages;
    for (const json& message : c["messages"]) messages.push_back(MessageOf(message));
    const bool disabled = c.contains("enable_thinking") && !c["enable_thinking"].get<bool>();
    const std::string text = RenderChat(messages, c["add_generation_prompt"],
                                        disabled ? Thinking::kDisabled : Thinking::kDefault);
    EXPECT_EQ(text, c["text"]) << c["name"];
    EXPECT_EQ(tokenizer.Encode(text), c["ids"].get<std::vector<TokenId>>()) << c["name"];
  }
}

TEST(RenderChat, RefusesAnUnknownRole) {
  const ChatMessage message{.role = "tool", .parts = {}};
  EXPECT_THROW(RenderChat({&message, 1}, true), Error);
}

class GoldenPrompts : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenPrompts, HaveTheReferencesIdsPositionsAndDelta) {
  const std::string dir = SourcePath("tests/golden/snapshots/" + GetParam());
  const Config config = glm_ocr::ReadConfig(dir).input;
  const Tokenizer tokenizer = Tokenizer::Load(dir + "/tokenizer.json");
  int num_cases = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(SourcePath("tests/golden/cases/" + GetParam()))) {
    if (!entry.is_directory()) continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++num_cases;
    const json golden = ReadJson(entry.path() / "golden.json");
    std::vector<PatchGrid> grids;
    for (const json& grid : golden["image_grid_thw"]) grids.push_back({grid[1], grid[2]});
    const PromptInput input = BuildPrompt(tokenizer, config.image_tokens, grids, golden["text"]);
    EXPECT_EQ(input.text, golden["prompt"]);
    EXPECT_EQ(input.rope_delta, golden["rope_delta"].get<int>());
    const Npy ids = ReadNpy(entry.path() / "input_ids.npy");
    EXPECT_EQ(std::vector<int64_t>(input.input_ids.begin(), input.input_ids.end()), ids.i64);
    const Npy positions = ReadNpy(entry.path() / "position_ids.npy");
    std::vector<int64_t> ours;
    for (const auto& axis : input.positions) ours.insert(ours.end(), axis.begin(), axis.end());
    EXPECT_EQ(ours, positions.i64);
  }
  EXPECT_EQ(num_cases, 9);
}

INSTANTIATE_TEST_SUITE_P(Snapshots, GoldenPrompts, ::testing::Values("tiny-a", "tiny-b", "tiny-c"),
                         [](const auto& param_info) {
                           return "tiny_" + std::string(1, param_info.param.back());
                         });

// The example of a 230x220 image: 8x8 image tokens at index 5, four prompt tokens behind.
TEST(ComputeRopePositions, FollowsTheWorkedExample) {
  constexpr TokenId kImage = 9;
  std::vector<TokenId> ids(5, 1);
  ids.insert(ids.end(), 64, kImage);
  ids.insert(ids.end(), 7, 2);
  const PatchGrid grid{16, 16};
  PromptInput out;
  ComputeRopePositions(ids, kImage, {&grid, 1}, out);
  ASSERT_EQ(out.positions[0].size(), 76U);
  EXPECT_EQ(out.positions[0][68], 5);
  EXPECT_EQ(out.positions[1][68], 12);
  EXPECT_EQ(out.positions[2][68], 12);
  EXPECT_EQ(out.positions[2][6], 6);
  EXPECT_EQ(out.positions[0][69], 13);
  EXPECT_EQ(out.positions[2][75], 19);
  EXPECT_EQ(out.rope_delta, -56);
}

TEST(ComputeRopePositions, RefusesImageTokensThatDoNotMatchTheGrids) {
  const std::vector<TokenId> ids = {1, 9, 9, 1};
  const std::vector<PatchGrid> grids = {{2, 4}, {2, 4}};
  PromptInput out;
  ComputeRopePositions(ids, 9, {grids.data(), 1}, out);
  EXPECT_EQ(out.rope_delta, 0);
  EXPECT_THROW(ComputeRopePositions(ids, 9, {}, out), Error);
  EXPECT_THROW(ComputeRopePositions(ids, 9, grids, out), Error);
  const PatchGrid larger{4, 4};
  EXPECT_THROW(ComputeRopePositions(ids, 9, {&larger, 1}, out), Error);
}

TEST(BuildPrompt, RefusesATaskTextWithImagePlaceholders) {
  const std::string dir = SourcePath("tests/golden/snapshots/tiny-a");
  const Config config = glm_ocr::ReadConfig(dir).input;
  const Tokenizer tokenizer = Tokenizer::Load(dir + "/tokenizer.json");
  const PatchGrid grid{2, 2};
  try {
    BuildPrompt(tokenizer, config.image_tokens, {&grid, 1}, "a<|image|>b");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  }
}

}  // namespace
}  // namespace platen::glm_input
