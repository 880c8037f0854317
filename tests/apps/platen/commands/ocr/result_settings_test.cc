// What results depend on, and the fingerprint that lets a run go on where an earlier one ended.
#include "apps/platen/commands/ocr/result_settings.h"

#include <gtest/gtest.h>

#include <set>

#include "apps/platen/commands/ocr/ocr_options.h"

namespace platen {
namespace {

TEST(ChangesResults, EveryOptionSaysSoAndNoPlaceIsTakenTwice) {
  std::set<int> places;
  for (const OptionSpec& option : OcrOptions()) {
    EXPECT_NE(option.changes_results, OptionSpec::kUnstated) << option.name;
    if (option.changes_results <= OptionSpec::kNo) continue;
    EXPECT_TRUE(places.insert(option.changes_results).second) << option.name;
  }
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(*places.begin(), 1);
  EXPECT_EQ(*places.rbegin(), static_cast<int>(places.size()));
}

TEST(ResultSettings, HaveAFixedOrderAndOnlyWhatConcernsTheirKind) {
  const Settings settings = ParseSettings(OcrOptions(), {"--dpi", "300", "--pages", "2-3"});
  ResultSettings expected = {{"platen", PLATEN_VERSION},
                             {"model", "an id"},
                             {"task", "text"},
                             {"granularity", "line"},
                             {"precision", "int8"},
                             {"attention", "f32"},
                             {"text_height", "0", true},
                             {"repetition_penalty", "1", true},
                             {"max_new_tokens", "0", true},
                             {"dpi", "300", true},
                             {"max_pixels", "200000000", true},
                             {"composite_alpha", "false", true},
                             {"text_layer", "auto"}};
  const std::map<std::string, std::string> resolved = {
      {"model", "an id"}, {"granularity", "line"}, {"precision", "int8"}, {"attention", "f32"}};
  EXPECT_EQ(ResultSettingsOf(OcrOptions(), settings, InputKind::kPdf, resolved), expected);
  expected.pop_back();                   // text_layer
  expected.erase(expected.begin() + 9);  // dpi
  EXPECT_EQ(ResultSettingsOf(OcrOptions(), settings, InputKind::kImage, resolved), expected);
}

TEST(Rendering, IsApartFromWhatIsRead) {
  const Settings usual = ParseSettings(OcrOptions(), {});
  const Settings other = ParseSettings(OcrOptions(), {"--keep", "headers,footnotes", "--reflow"});
  EXPECT_EQ(RenderingOf(OcrOptions(), usual), "");
  EXPECT_EQ(RenderingOf(OcrOptions(), other), "keep=headers,footnotes reflow=true");
  EXPECT_EQ(FingerprintOf(ResultSettingsOf(OcrOptions(), other, InputKind::kPdf, {})),
            FingerprintOf(ResultSettingsOf(OcrOptions(), usual, InputKind::kPdf, {})));
}

TEST(ResultSettings, WhatIsNoNumberOfJsonIsText) {
  const OptionTable table = {
      {.name = "size", .type = OptionType::kInteger, .min = 0, .max = 9, .changes_results = 1},
      {.name = "mark", .changes_results = 2}};
  const ResultSettings settings = ResultSettingsOf(
      table, ParseSettings(table, {"--size", "05", "--mark", "5"}), InputKind::kImage, {});
  EXPECT_EQ(settings, (ResultSettings{{"platen", PLATEN_VERSION}, {"size", "05"}, {"mark", "5"}}));
}

// What was taken counts, not how it was asked for: a layout model may lie beside the model.
TEST(ResultSettings, ALayoutModelCountsByItsContents) {
  const auto shown = [](const std::vector<std::string>& words, const std::string& id) {
    return ResultSettingsOf(OcrOptions(), ParseSettings(OcrOptions(), words), InputKind::kImage,
                            {{"layout-model", id}});
  };
  const DocumentSetting entry = {"layout_model", "an id"};
  EXPECT_EQ(shown({}, "an id").back(), entry);
  EXPECT_EQ(shown({"--layout-model", "some/folder"}, "an id"), shown({}, "an id"));
  EXPECT_EQ(shown({"--layout-model", "classical"}, ""), shown({}, ""));
  EXPECT_NE(FingerprintOf(shown({}, "an id")), FingerprintOf(shown({}, "another")));
  EXPECT_NE(FingerprintOf(shown({}, "an id")), FingerprintOf(shown({}, "")));
}

TEST(ResultSettings, ALaterOptionCountsOnceItIsUsed) {
  const OptionTable table = {
      {.name = "dpi", .default_value = "200", .changes_results = 9},
      {.name = "later-option", .default_value = "off", .changes_results = kAlwaysShown + 1},
      {.name = "speed", .changes_results = OptionSpec::kNo}};
  const ResultSettings unused =
      ResultSettingsOf(table, ParseSettings(table, {}), InputKind::kImage, {});
  EXPECT_EQ(unused, (ResultSettings{{"platen", PLATEN_VERSION}, {"dpi", "200"}}));
  const ResultSettings used = ResultSettingsOf(
      table, ParseSettings(table, {"--later-option", "on", "--speed", "x"}), InputKind::kImage, {});
  EXPECT_EQ(used,
            (ResultSettings{{"platen", PLATEN_VERSION}, {"dpi", "200"}, {"later_option", "on"}}));
}

TEST(Fingerprint, EveryNameAndValueCounts) {
  const std::string one = FingerprintOf({{"task", "text"}, {"dpi", "200"}});
  EXPECT_EQ(FingerprintOf({{"task", "text"}, {"dpi", "200", true}}), one);
  EXPECT_NE(FingerprintOf({{"task", "text"}, {"dpi", "300"}}), one);
  EXPECT_NE(FingerprintOf({{"task", "textdpi"}, {"", "200"}}), one);
  EXPECT_NE(FingerprintOf({{"task", "text"}}), one);
}

}  // namespace
}  // namespace platen
