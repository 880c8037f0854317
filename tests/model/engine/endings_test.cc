// What ends an answer besides its stop tokens: endless repetition, which is cut.
#include "model/engine/endings.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace platen::testing {
namespace {

class Endings : public ::testing::Test {
 protected:
  std::unique_ptr<Sequence> Prepared(const char* name = "text_only") const {
    Request request =
        GoldenRequest(model_, GoldenCase(std::string("tests/golden/cases/tiny-a/") + name));
    request.max_new_tokens = 3000;
    return Engine(model_, {}).Prepare(std::move(request));
  }

  // Decides the text's tokens and then `unit` over and over; the sequence ends or `most` are
  // decided.
  void DecideLoop(Sequence& s, const std::string& text, const std::string& unit, int most) const {
    const auto decide = [&](const std::string& piece) {
      for (const TokenId id : model_.tokenizer().Encode(piece)) {
        if (s.finished || !s.Decide(id, 0.5F)) return;
        EndIfItMust(model_.tokenizer(), s);
      }
    };
    decide(text);
    while (!s.finished && s.num_decided() < most) decide(unit);
  }

  std::string TextOf(const Sequence& s) const {
    return model_.tokenizer().Decode(s.result.tokens, true);
  }

  const Model& model_ = GoldenModel("tiny-a");
};

TEST_F(Endings, RepeatedTextIsCutToItsFirstUnit) {
  const auto s = Prepared();
  DecideLoop(*s, "The title of it.\n", "and so on and on. ", 2500);
  EXPECT_EQ(s->result.finish, FinishReason::kRepetition);
  const std::string text = TextOf(*s);
  EXPECT_TRUE(text.starts_with("The title of it.\n")) << text;
  const size_t first = text.find("so on and on");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("so on and on", first + 1), std::string::npos) << text;
  EXPECT_GT(s->result.repeated_tokens, 50);
  EXPECT_EQ(s->result.tokens.size(), s->result.probabilities.size());
  EXPECT_EQ(static_cast<int64_t>(s->result.tokens.size()) + s->result.repeated_tokens,
            s->num_decided());
}

TEST_F(Endings, AnEmptyTableOfAPageIsNoLoop) {
  std::string row = "<tr>";
  for (int i = 0; i < 4; ++i) row += "<td></td>";
  row += "</tr>";
  const auto s = Prepared("exif6");
  ASSERT_FALSE(s->request.images.empty());
  const int room = s->request.images.front().pixels.height / 8;
  const auto per_row = static_cast<int>(model_.tokenizer().Encode(row).size());
  DecideLoop(*s, "<table>", row, per_row * (room - 1));
  EXPECT_FALSE(s->finished) << "a row for every eight pixels";
  DecideLoop(*s, "", row, 2900);
  EXPECT_EQ(s->result.finish, FinishReason::kRepetition);
}

TEST_F(Endings, AMeasurementThatIgnoresStopsIgnoresLoops) {
  const auto s = Prepared();
  s->request.ignore_stop = true;
  DecideLoop(*s, "", "and so on ", 2000);
  EXPECT_FALSE(s->finished);
}

}  // namespace
}  // namespace platen::testing
