// The fast edit distance against the plain table of the definition.
#include "model/support/edit_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace platen {
namespace {

using Symbols = std::vector<uint32_t>;

uint32_t Draw(std::mt19937& random, uint32_t below) {
  return static_cast<uint32_t>(random() % below);
}

// The definition: one cell after another.
int64_t PlainDistance(const Symbols& a, const Symbols& b) {
  std::vector<std::vector<int64_t>> table(a.size() + 1, std::vector<int64_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = static_cast<int64_t>(i + j);
        continue;
      }
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                              table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
    }
  }
  return table[a.size()][b.size()];
}

TEST(EditDistanceTest, KnownWords) {
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("abc", "abc"), 0);
  EXPECT_EQ(EditDistance("\xFF\x01", "\x01"), 1);
}

TEST(EditDistanceTest, EqualsTheDefinitionOnRandomSequences) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const uint32_t letters = 1 + Draw(random, 6);
    Symbols a(random() % 200), b(random() % 200);
    for (uint32_t& symbol : a) symbol = Draw(random, letters);
    for (uint32_t& symbol : b) symbol = Draw(random, letters) + Draw(random, 2);
    ASSERT_EQ(EditDistance(a, b), PlainDistance(a, b)) << "round " << round;
  }
}

TEST(EditDistanceTest, EqualsTheDefinitionAroundTheBlocksOf64) {
  std::mt19937 random(8);
  for (const size_t rows : {63U, 64U, 65U, 127U, 128U, 129U, 192U}) {
    for (const size_t columns : {1U, 63U, 64U, 65U, 130U}) {
      Symbols a(rows), b(columns);
      for (uint32_t& symbol : a) symbol = Draw(random, 3);
      for (uint32_t& symbol : b) symbol = Draw(random, 3);
      EXPECT_EQ(EditDistance(a, b), PlainDistance(a, b)) << rows << " x " << columns;
      EXPECT_EQ(EditDistance(b, a), PlainDistance(a, b)) << columns << " x " << rows;
    }
  }
}

// A page read twice: few edits in a long text of many different symbols.
TEST(EditDistanceTest, EqualsTheDefinitionOnSimilarTexts) {
  std::mt19937 random(9);
  for (int round = 0; round < 20; ++round) {
    Symbols a(1000);
    for (uint32_t& symbol : a) symbol = 0x4E00 + Draw(random, 3000);
    Symbols b = a;
    for (int edit = 0; edit < 12; ++edit) {
      const auto at = static_cast<ptrdiff_t>(random() % b.size());
      if (edit % 3 == 0) b.erase(b.begin() + at);
      if (edit % 3 == 1) b.insert(b.begin() + at, Draw(random, 1 << 20));
      if (edit % 3 == 2) b[static_cast<size_t>(at)] = Draw(random, 1 << 20);
    }
    ASSERT_EQ(EditDistance(a, b), PlainDistance(a, b)) << "round " << round;
  }
}

// Memory stays linear: no table of symbols times blocks, whatever the alphabet.
TEST(EditDistanceTest, LongTextsWithoutACommonSymbol) {
  Symbols a(60000), b(50000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint32_t>(i);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<uint32_t>(1000000 + i);
  EXPECT_EQ(EditDistance(a, b), 60000);
}

TEST(NearestNameTest, FindsWhatWasMeantAndNothingFarAway) {
  const std::vector<std::string> names = {"threads", "slots", "model"};
  EXPECT_EQ(NearestName("thread", names), "threads");
  EXPECT_EQ(NearestName("modle", names), "model");
  EXPECT_EQ(NearestName("zzzzzzzzzz", names), "");
  EXPECT_EQ(NearestName("x", {}), "");
}

TEST(NearestNameTest, ThreeEditsAreTooManyHoweverLongTheWord) {
  EXPECT_EQ(NearestName("--kv-cache-mbi", {"--kv-cache-mib"}), "--kv-cache-mib");
  EXPECT_EQ(NearestName("--kx-cacha-mob", {"--kv-cache-mib"}), "");
  EXPECT_EQ(NearestName("--force", {"--trace"}), "");
}

TEST(NearestNameTest, AShortWordIsNotTurnedIntoAnother) {
  // The dashes are no letters that could agree.
  EXPECT_EQ(NearestName("--x", {"--k"}), "");
  EXPECT_EQ(NearestName("--xy", {"--kl"}), "");
  EXPECT_EQ(NearestName("--kx", {"--kl"}), "--kl");
  EXPECT_EQ(NearestName("-o", {"--o"}), "");
}

TEST(NearestNameTest, TheBeginningOfExactlyOneNameMeansIt) {
  const std::vector<std::string> options = {"--output", "--threads", "--pages", "--page-order"};
  EXPECT_EQ(NearestName("--out", options), "--output");
  EXPECT_EQ(NearestName("--thr", options), "--threads");
  EXPECT_EQ(NearestName("--ou", options), "");  // two letters say too little
  EXPECT_EQ(NearestName("--page-o", options), "--page-order");
  EXPECT_EQ(NearestName("--page", options), "--pages");  // of two beginnings the nearest name
  EXPECT_EQ(NearestName("gran", {"granularity", "line_height"}), "granularity");
}

}  // namespace
}  // namespace platen
