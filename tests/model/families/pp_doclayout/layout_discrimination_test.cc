// Would the goldens of the layout model notice a mistake? discrimination.json says how far each
// likely mistake, switched on in a second implementation, misses the stored arrays.
#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr double kClearMiss = 10;  // tolerances

nlohmann::json Table(const char* part) {
  return ReadJson("tests/golden/pp_doclayout/discrimination.json").at(part);
}

bool IsCaught(const nlohmann::json& snapshot) {
  const nlohmann::json& miss = snapshot.at("miss");
  const bool differs = miss.is_string();  // an array of integers
  return differs || miss.get<double>() >= kClearMiss ||
         snapshot.at("pages_with_other_detections") > 0;
}

TEST(LayoutDiscrimination, EveryMistakeOfTheNetworkIsCaughtByASnapshotThatIsHere) {
  for (const char* part : {"network", "outside"}) {
    const nlohmann::json table = Table(part);
    EXPECT_GE(table.size(), 14U);
    for (const auto& [mistake, snapshots] : table.items()) {
      bool caught = false;
      for (const char* name : {"tiny-a", "tiny-b", "tiny-c"}) {
        caught = caught || IsCaught(snapshots.at(name));
      }
      EXPECT_EQ(caught, mistake != "none") << mistake;
    }
  }
}

TEST(LayoutDiscrimination, EveryMistakeInTheBoxRulesChangesACase) {
  const nlohmann::json rules = Table("rules");
  for (const auto& [mistake, found] : rules.items()) {
    EXPECT_EQ(found.at("cases_that_differ") > 0, mistake != "none") << mistake;
  }
}

TEST(LayoutDiscrimination, TheSecondImplementationAgreesWithoutAMistake) {
  const nlohmann::json none = Table("network").at("none");
  for (const auto& [name, snapshot] : none.items()) {
    EXPECT_LT(snapshot.at("largest_miss").get<double>(), 0.1) << name;
  }
}

}  // namespace
}  // namespace platen::testing
