// Would the goldens notice a mistake? tools/goldens (part `mutations`) switches likely mistakes on
// in a second implementation of the model and stores how far each golden is missed.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr double kClearMiss = 10;  // tolerances
constexpr int kGreedyTokens = 32;
constexpr int kDrafts = 4;

// Largest miss of one snapshot's arrays, in tolerances. A shape that differs is infinite.
double WorstMiss(const nlohmann::json& snapshot) {
  double worst = 0;
  for (const char* array : {"vision_embeds", "logits", "mtp"}) {
    const nlohmann::json& miss = snapshot.at(array);
    worst = std::max(
        worst, miss.is_string() ? std::numeric_limits<double>::infinity() : miss.get<double>());
  }
  return worst;
}

bool IsCaught(const nlohmann::json& snapshot) {
  return WorstMiss(snapshot) >= kClearMiss || snapshot.at("greedy_agree") < kGreedyTokens ||
         snapshot.at("drafts_agree") < kDrafts;
}

TEST(GoldenDiscrimination, EveryMistakeIsCaughtByASnapshot) {
  const nlohmann::json table = ReadJson("tests/golden/discrimination.json").at("mutations");
  EXPECT_GE(table.size(), 32U);
  for (const auto& [mistake, snapshots] : table.items()) {
    bool caught = false;
    for (const nlohmann::json& snapshot : snapshots) caught = caught || IsCaught(snapshot);
    EXPECT_EQ(caught, mistake != "none") << mistake;
  }
}

TEST(GoldenDiscrimination, TheSecondImplementationAgreesWithoutAMistake) {
  const nlohmann::json table = ReadJson("tests/golden/discrimination.json").at("mutations");
  for (const auto& [name, snapshot] : table.at("none").items()) {
    EXPECT_LT(WorstMiss(snapshot), 0.1) << name;
  }
}

// Of the second family each case stores its misses array by array, and how many rows chose wrongly.
double WorstMissOfCase(const nlohmann::json& misses) {
  double worst = 0;
  for (const auto& [array, miss] : misses.items()) {
    // The mistaken model cannot even be loaded, or rows chose other experts or keys.
    const bool other =
        miss.is_string() || (array.find("_wrong") != std::string::npos && miss.get<double>() > 0);
    worst = std::max(worst, other ? std::numeric_limits<double>::infinity() : miss.get<double>());
  }
  return worst;
}

TEST(GoldenDiscrimination, EveryMistakeInTheSecondFamilyIsCaughtByACase) {
  const nlohmann::json table = ReadJson("tests/golden/minillm/discrimination.json");
  EXPECT_GE(table.size(), 78U);
  for (const auto& [mistake, cases] : table.items()) {
    double worst = 0;
    for (const nlohmann::json& misses : cases) worst = std::max(worst, WorstMissOfCase(misses));
    if (mistake == "None") {
      EXPECT_LT(worst, 0.1);
    } else {
      EXPECT_GE(worst, kClearMiss) << mistake;
    }
  }
}

TEST(GoldenDiscrimination, TheComparisonRefusesAMissANanAndAnotherSize) {
  const std::vector<float> expected = {1, 2, 3};
  EXPECT_TRUE(AllClose(std::vector<float>{1, 2.5F, 3}, expected, 0.5));
  EXPECT_FALSE(AllClose(std::vector<float>{1, 2.6F, 3}, expected, 0.5));
  EXPECT_FALSE(AllClose(std::vector<float>{1, 2, std::nanf("")}, expected, 0.5));
  EXPECT_FALSE(AllClose(std::vector<float>{1, 2}, expected, 0.5));
}

}  // namespace
}  // namespace platen::testing
