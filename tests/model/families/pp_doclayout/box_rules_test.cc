// The SDK's box rules against cases of its own code, and ours.
#include "model/families/pp_doclayout/box_rules.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "model/families/pp_doclayout/detections.h"
#include "tests/support/golden.h"

namespace platen::pp_doclayout {
namespace {

using nlohmann::json;

Detection Box(const std::string& label, double score, std::array<double, 4> box, int order) {
  return {.kind = KindOfLabel(label),
          .label = label,
          .score = score,
          .x0 = box[0],
          .y0 = box[1],
          .x1 = box[2],
          .y1 = box[3],
          .order = order};
}

// [label, score, x0, y0, x1, y1, order]; the first in order has null.
json Row(const Detection& d) {
  return {d.label,
          d.score,
          static_cast<int>(d.x0),
          static_cast<int>(d.y0),
          static_cast<int>(d.x1),
          static_cast<int>(d.y1),
          d.order > 0 ? json(d.order) : json(nullptr)};
}

TEST(SdkRules, KeepWhatTheSdkKeepsInEveryCase) {
  const json cases = testing::ReadJson("tests/golden/pp_doclayout/rules/rules.json")["cases"];
  ASSERT_EQ(cases.size(), 86U);
  for (const json& one : cases) {
    std::vector<Detection> found;
    for (const json& row : one["found"]) {
      found.push_back(Box(row[0], row[1], {row[2], row[3], row[4], row[5]}, row[6]));
    }
    json kept = json::array();
    for (const Detection& d : ApplySdkRules(found, one["page_size"][0], one["page_size"][1])) {
      kept.push_back(Row(d));
    }
    EXPECT_EQ(kept, one["regions"]) << one["name"];
  }
}

std::string Labels(const std::vector<Detection>& boxes) {
  std::string text;
  for (const Detection& box : boxes) text += (text.empty() ? "" : " ") + box.label;
  return text;
}

std::string Kept(const std::vector<Detection>& found) {
  return Labels(ApplyRules(found, 1000, 1400));
}

TEST(OurRules, OfTwoBoxesThatLieInEachOtherTheBetterStays) {
  EXPECT_EQ(Kept({Box("text", 0.9, {0, 0, 99, 99}, 1), Box("table", 0.8, {17, 0, 116, 99}, 2),
                  Box("title", 0.7, {400, 400, 600, 500}, 3)}),
            "text title");
  EXPECT_EQ(Kept({Box("text", 0.8, {0, 0, 99, 99}, 1), Box("table", 0.9, {17, 0, 116, 99}, 2)}),
            "table");
  // The better one may be the smaller one.
  EXPECT_EQ(Kept({Box("text", 0.8, {0, 0, 100, 100}, 1), Box("table", 0.9, {5, 5, 95, 96}, 2)}),
            "table");
}

TEST(OurRules, AReferenceStaysAndTheTextAroundItGoes) {
  EXPECT_EQ(Kept({Box("text", 0.9, {100, 100, 900, 900}, 1),
                  Box("reference", 0.8, {120, 120, 880, 200}, 2),
                  Box("footer", 0.7, {100, 1300, 500, 1340}, 3)}),
            "reference footer");
}

TEST(OurRules, AReferenceInATableOrAPictureGoesAsOthersDo) {
  EXPECT_EQ(Kept({Box("table", 0.9, {100, 100, 900, 900}, 1),
                  Box("reference", 0.8, {120, 120, 880, 200}, 2)}),
            "table");
  EXPECT_EQ(Kept({Box("image", 0.9, {100, 100, 900, 900}, 1),
                  Box("reference", 0.8, {120, 120, 880, 200}, 2)}),
            "image");
}

TEST(OurRules, OfAListOfReferencesTheEntriesStayIfThereAreAny) {
  const Detection list = Box("reference", 0.9, {100, 100, 900, 900}, 1);
  EXPECT_EQ(Kept({list}), "reference");
  EXPECT_EQ(Kept({list, Box("reference_content", 0.8, {120, 120, 880, 200}, 2)}),
            "reference_content");
}

TEST(OurRules, ABoxThatGoesTakesNoOtherWithIt) {
  // The text lies in the table and goes; the number lies in the text only.
  const std::vector<Detection> found = {Box("table", 0.9, {100, 0, 500, 500}, 1),
                                        Box("text", 0.8, {60, 50, 450, 450}, 2),
                                        Box("number", 0.7, {62, 60, 98, 90}, 3)};
  EXPECT_EQ(Kept(found), "table number");
  EXPECT_EQ(Labels(ApplySdkRules(found, 1000, 1400)), "table");
}

TEST(OurRules, ABoxBelowAPixelGoes) {
  const std::vector<Detection> found = {Box("text", 0.8, {200.2, 200, 200.9, 300}, 1),
                                        Box("title", 0.8, {-50, 200, 0.5, 300}, 2)};
  EXPECT_EQ(Kept(found), "");
  EXPECT_EQ(Labels(ApplySdkRules(found, 1000, 1400)), "text title");
}

TEST(OurRules, BoxesKeepFractionsAndEndAtThePage) {
  const auto kept = ApplyRules({Box("text", 0.9, {-20.5, 10.25, 300.75, 2000}, 1)}, 1000, 1400);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].x0, 0);
  EXPECT_EQ(kept[0].y0, 10.25);
  EXPECT_EQ(kept[0].x1, 300.75);
  EXPECT_EQ(kept[0].y1, 1400);
}

TEST(OurRules, PicturesSealsAndChartsStayWhereverTheyLie) {
  EXPECT_EQ(
      Kept({Box("text", 0.9, {100, 100, 900, 900}, 1), Box("image", 0.8, {200, 200, 300, 300}, 2),
            Box("seal", 0.8, {400, 400, 500, 500}, 3), Box("chart", 0.8, {600, 600, 700, 700}, 4),
            Box("inline_formula", 0.8, {700, 200, 800, 230}, 5)}),
      "text image seal chart");
}

TEST(OurRules, WhereNoDeviationConcernsThemTheyAreThoseOfTheSdk) {
  const json cases = testing::ReadJson("tests/golden/pp_doclayout/rules/rules.json")["cases"];
  for (const std::string name :
       {"nothing", "same_class_shifted_0.6_exactly_goes", "same_class_shifted_0.59_stays",
        "best_score_wins_not_first", "equal_scores_later_wins", "chain_third_survives",
        "big_image_portrait_0.95_goes", "big_image_landscape_0.90_goes", "only_big_images_stay",
        "text_in_table_goes", "contained_0.79_stays", "text_in_image_goes", "nested_three",
        "dropped_by_nms_cannot_contain", "reading_order"}) {
    bool seen = false;
    for (const json& one : cases) {
      if (one["name"] != name) continue;
      seen = true;
      std::vector<Detection> found;
      for (const json& row : one["found"]) {
        found.push_back(Box(row[0], row[1], {row[2], row[3], row[4], row[5]}, row[6]));
      }
      const int width = one["page_size"][0], height = one["page_size"][1];
      EXPECT_EQ(Labels(ApplyRules(found, width, height)),
                Labels(ApplySdkRules(found, width, height)))
          << name;
    }
    EXPECT_TRUE(seen) << name;
  }
}

// Order votes of three queries by hand: 2 before 0 before 1.
TEST(OrderVotes, CountWhoStandsBefore) {
  const float sure = 20.0F;
  Mat logits(3, 3);
  const float values[] = {-1e4F, sure, -sure, -1e4F, -1e4F, -sure, -1e4F, -1e4F, -1e4F};
  std::copy(std::begin(values), std::end(values), logits.data());
  const std::vector<double> votes = OrderVotes(logits.View());
  EXPECT_NEAR(votes[0], 1, 1e-6);
  EXPECT_NEAR(votes[1], 2, 1e-6);
  EXPECT_NEAR(votes[2], 0, 1e-6);
  EXPECT_EQ(OrderRanks(votes), (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(OrderRanks({1, 0, 1, 0}), (std::vector<int64_t>{2, 0, 3, 1}));
}

TEST(Labels, EveryLabelOfTheModelHasItsKind) {
  const json labels = testing::ReadJson("tests/golden/pp_doclayout/full/config.json")["id2label"];
  std::map<RegionKind, int> kinds;
  for (const auto& [index, label] : labels.items()) ++kinds[KindOfLabel(label)];
  EXPECT_EQ(kinds[RegionKind::kText], 3);  // abstract, content, text
  EXPECT_EQ(kinds[RegionKind::kFigure], 3);
  EXPECT_EQ(kinds[RegionKind::kFormula], 2);
  EXPECT_EQ(kinds[RegionKind::kCaption], 2);
  EXPECT_EQ(kinds[RegionKind::kReference], 2);
  EXPECT_EQ(kinds.size(), 18U);  // all but list items
  EXPECT_EQ(KindOfLabel("number"), RegionKind::kPageNumber);
  EXPECT_EQ(KindOfLabel("something else"), RegionKind::kText);
}

}  // namespace
}  // namespace platen::pp_doclayout
