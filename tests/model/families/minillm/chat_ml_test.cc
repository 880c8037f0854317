// ChatML as the reference's template renders it, and which templates are accepted.
#include "model/families/minillm/chat_ml.h"

#include <gtest/gtest.h>

#include "model/support/error.h"
#include "tests/support/minillm.h"
#include "tests/support/temp_folder.h"

namespace platen::minillm {
namespace {

using platen::testing::GoldenCase;
using platen::testing::Ids;
using platen::testing::ReadJson;
using platen::testing::SourcePath;
using platen::testing::TempFolder;

constexpr const char* kChat = "tests/golden/minillm/mini-chat";

TEST(ChatMl, RendersAsTheReferencesTemplate) {
  const Tokenizer tokenizer = Tokenizer::Load(SourcePath(std::string(kChat) + "/tokenizer.json"));
  const nlohmann::json cases = ReadJson(std::string(kChat) + "/renderings.json")["cases"];
  ASSERT_GE(cases.size(), 24U);
  for (const nlohmann::json& c : cases) {
    std::vector<ChatTurn> turns;
    for (const nlohmann::json& message : c["messages"]) {
      turns.push_back({message["role"], message["content"]});
    }
    const bool off = c.contains("enable_thinking") && !c["enable_thinking"].get<bool>();
    const std::string text = RenderChatMl(turns, c["add_generation_prompt"],
                                          off ? Thinking::kDisabled : Thinking::kDefault);
    EXPECT_EQ(text, c["text"]) << c["name"];
    EXPECT_EQ(tokenizer.Encode(text), Ids(c["ids"])) << c["name"];
  }
}

// What the template's tokenizer_config.json says: the known one.
TEST(ChatMl, OtherTemplatesAreRefusedByFile) {
  CheckChatTemplate(SourcePath(kChat));
  const TempFolder folder;
  CheckChatTemplate(folder.path());  // none at all
  folder.Write("chat_template.jinja", "{{ messages }}");
  try {
    CheckChatTemplate(folder.path());
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_TRUE(e.location().file.ends_with("chat_template.jinja")) << e.what();
  }
  const TempFolder other;
  other.Write("tokenizer_config.json", R"({"chat_template": "{{ messages }}"})");
  try {
    CheckChatTemplate(other.path());
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.location().field, "chat_template");
  }
}

// Prompts of one user turn through the whole engine: tokens with and without their stop.
TEST(ChatMl, AnswersAreTheReferences) {
  const Model model(std::make_unique<Snapshot>(LoadSnapshot(SourcePath(kChat))), BestKernels());
  const GoldenCase golden(kChat);
  const nlohmann::json& prompt = golden.json["prompts"][0];
  ASSERT_EQ(prompt["name"], "user only");
  Engine engine(model, {});
  Request request;
  request.task_text = "hi";
  request.max_new_tokens = static_cast<int>(prompt["greedy"]["tokens"].size());
  request.ignore_stop = true;
  const auto sequence = platen::testing::RunToEnd(engine, std::move(request));
  EXPECT_EQ(sequence->prompt.input_ids, Ids(prompt["ids"]));
  EXPECT_EQ(platen::testing::Decided(*sequence), Ids(prompt["greedy"]["tokens"]));
}

}  // namespace
}  // namespace platen::minillm
