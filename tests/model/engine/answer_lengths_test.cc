#include "model/engine/answer_lengths.h"

#include <gtest/gtest.h>

#include <random>

namespace platen {
namespace {

TEST(AnswerLengths, GuessesBeforeItHasSeenAny) {
  const AnswerLengths lengths;
  EXPECT_GE(lengths.Expected(0, 0), 1);
  EXPECT_GT(lengths.Expected(0, 1000), lengths.Expected(0, 100));
  EXPECT_LT(lengths.Expected(0, 1000), 2000);
}

TEST(AnswerLengths, NineInTenAnswersStayWithin) {
  AnswerLengths lengths;
  std::minstd_rand rng(7);
  std::uniform_real_distribution<double> ratio(0.1, 0.6);
  for (int i = 0; i < 2000; ++i) {
    lengths.Add(3, 200, 16 + static_cast<int64_t>(200 * ratio(rng)));
  }
  const int64_t expected = lengths.Expected(3, 200);
  int within = 0;
  for (int i = 0; i < 2000; ++i)
    within += 16 + 200 * ratio(rng) <= static_cast<double>(expected) ? 1 : 0;
  EXPECT_GE(within, 1740);
  EXPECT_LE(expected, 176) << "and not far more is kept for them";
}

TEST(AnswerLengths, ClassesDoNotTeachEachOther) {
  AnswerLengths lengths;
  for (int i = 0; i < 100; ++i) lengths.Add(1, 100, 800);
  EXPECT_EQ(lengths.Expected(2, 100), AnswerLengths().Expected(2, 100));
  EXPECT_GT(lengths.Expected(1, 100), 700);
}

TEST(AnswerLengths, AFewAnswersAreNotBelieved) {
  AnswerLengths lengths;
  for (int i = 0; i < 3; ++i) lengths.Add(1, 100, 1);
  EXPECT_EQ(lengths.Expected(1, 100), AnswerLengths().Expected(1, 100));
}

TEST(AnswerLengths, ForgetsWhatIsLongGone) {
  AnswerLengths lengths;
  for (int i = 0; i < 1000; ++i) lengths.Add(0, 100, 700);
  for (int i = 0; i < 1000; ++i) lengths.Add(0, 100, 30);
  EXPECT_LT(lengths.Expected(0, 100), 60);
}

}  // namespace
}  // namespace platen
