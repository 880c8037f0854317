#include "model/engine/stop_strings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/support/error.h"
#include "tests/support/golden.h"

namespace platen::testing {
namespace {

const Tokenizer& SomeTokenizer() { return GoldenModel("tiny-a").tokenizer(); }

// The place at which a text stops, pushed token by token; -1: it does not.
int StopsAt(const std::string& text, const std::vector<std::string>& stops) {
  const std::vector<TokenId> ids = SomeTokenizer().Encode(text);
  for (size_t n = 1; n <= ids.size(); ++n) {
    if (EndsWithStopString(SomeTokenizer(), stops, std::span(ids).first(n))) {
      std::string read = SomeTokenizer().Decode(std::span(ids).first(n), true);
      CutAtStopString(stops, read);
      return static_cast<int>(read.size());
    }
  }
  return -1;
}

TEST(StopStrings, AreFoundWhereverTokensPartThem) {
  const std::string text = "the first line\nand the second of them, then a third";
  for (size_t first = 0; first < text.size(); ++first) {
    for (const size_t length : {1, 2, 5, 9}) {
      const std::string stop = text.substr(first, length);
      EXPECT_EQ(StopsAt(text, {stop}), static_cast<int>(text.find(stop))) << stop;
    }
  }
}

TEST(StopStrings, TheFirstOfSeveralEndsTheText) {
  EXPECT_EQ(StopsAt("one two three", {"three", "two"}), 4);
  EXPECT_EQ(StopsAt("one two three", {"four"}), -1);
  EXPECT_EQ(StopsAt("one two three", {}), -1);
}

TEST(StopStrings, AreBounded) {
  EXPECT_NO_THROW(CheckStopStrings(std::vector<std::string>{"a", std::string(256, 'b')}));
  EXPECT_THROW(CheckStopStrings(std::vector<std::string>{""}), Error);
  EXPECT_THROW(CheckStopStrings(std::vector<std::string>{std::string(257, 'b')}), Error);
  EXPECT_THROW(CheckStopStrings(std::vector<std::string>(17, "a")), Error);
}

TEST(StopStrings, EndAnAnswerAtTheSamePlaceWithAnyDrafts) {
  const Model& model = GoldenModel("tiny-a");
  Request request = GoldenRequest(model, GoldenCase("tests/golden/cases/tiny-a/tiny20"));
  request.max_new_tokens = 24;
  request.ignore_stop = true;
  EngineOptions plain;
  plain.draft_length = 0;
  Engine whole(model, plain);
  const auto all = RunToEnd(whole, request);
  std::string text;  // a random model's: not all of it is UTF-8
  for (const TokenId id : all->result.tokens) text += model.tokenizer().Bytes(id, true);
  int tried = 0;
  for (size_t first = 0; first + 2 <= text.size(); ++first) {
    const std::string stop = text.substr(first, 2);
    const bool ascii = std::all_of(stop.begin(), stop.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (!ascii || ++tried % 3 != 0) continue;
    request.stop_strings = {stop};
    std::vector<std::vector<TokenId>> answers;
    for (const int draft_length : {0, 1, 4, 8}) {
      EngineOptions options;
      options.draft_length = draft_length;
      Engine engine(model, options);
      const auto s = RunToEnd(engine, request);
      EXPECT_EQ(s->result.finish, FinishReason::kStop);
      answers.push_back(s->result.tokens);
      std::string cut;
      for (const TokenId id : s->result.tokens) cut += model.tokenizer().Bytes(id, true);
      CutAtStopString(request.stop_strings, cut);
      EXPECT_EQ(cut, text.substr(0, text.find(stop)));
    }
    for (const auto& answer : answers) EXPECT_EQ(answer, answers.front());
  }
  EXPECT_GE(tried, 6);
}

}  // namespace
}  // namespace platen::testing
