// Statistics of two readings.
#include "bench/comparison.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

CropOutcome Region(int line, std::vector<TokenId> tokens) {
  CropOutcome region;
  region.origin.line = line;
  region.sequence = std::make_unique<Sequence>();
  region.sequence->result.tokens = std::move(tokens);
  return region;
}

TEST(ComparePageTest, CountsCharactersNotBytes) {
  PageReading a, b;
  a.text = "na\xC3\xAFve caf\xC3\xA9\n";
  b.text = "naive caf\xC3\xA9\n";
  const PageComparison page = ComparePage(a, b);
  EXPECT_EQ(page.text.characters, 11);
  EXPECT_EQ(page.text.edits, 1);
  EXPECT_DOUBLE_EQ(page.text.cer(), 1.0 / 11);
}

TEST(ComparePageTest, AnEmptyReferenceIsAllRightOrAllWrong) {
  EXPECT_EQ(TextDifference({0, 0}).cer(), 0);
  EXPECT_EQ(TextDifference({0, 7}).cer(), 1);
}

TEST(ComparePageTest, TokensAreAlignedInsideTheirRegion) {
  PageReading a, b;
  a.crops.push_back(Region(0, {1, 2, 3, 4}));
  b.crops.push_back(Region(0, {9, 1, 2, 3, 4}));  // one insertion, all others equal
  a.crops.push_back(Region(1, {5, 6}));
  b.crops.push_back(Region(1, {5, 6}));
  const PageComparison page = ComparePage(a, b);
  EXPECT_TRUE(page.same_regions);
  EXPECT_EQ(page.tokens.regions, 2);
  EXPECT_EQ(page.tokens.identical_regions, 1);
  EXPECT_EQ(page.tokens.tokens, 7);
  EXPECT_EQ(page.tokens.edits, 1);
  EXPECT_DOUBLE_EQ(page.tokens.agreement(), 6.0 / 7);
}

TEST(ComparePageTest, OtherCropsAreNotComparedTokenByToken) {
  PageReading a, b;
  a.crops.push_back(Region(0, {1}));
  b.crops.push_back(Region(0, {1}));
  b.crops.push_back(Region(1, {1}));
  EXPECT_FALSE(ComparePage(a, b).same_regions);
  EXPECT_EQ(ComparePage(a, b).tokens.regions, 0);
}

TEST(ComparePageTest, AFailedRegionIsCountedAndLeftOut) {
  PageReading a, b;
  a.crops.push_back(Region(0, {1}));
  b.crops.emplace_back();
  b.crops[0].error = "too large";
  const PageComparison page = ComparePage(a, b);
  EXPECT_EQ(page.failed_regions_a, 0);
  EXPECT_EQ(page.failed_regions_b, 1);
  EXPECT_EQ(page.tokens.regions, 0);
}

PageComparison PageWith(int64_t characters, int64_t edits) {
  PageComparison page;
  page.name = "a.png";
  page.page = static_cast<int>(edits) + 1;
  page.text = {characters, edits};
  return page;
}

TEST(SummariseTest, AddsUpAndFindsMeanMedianAndWorst) {
  std::vector<PageComparison> pages = {PageWith(100, 1), PageWith(100, 0), PageWith(800, 80),
                                       PageWith(100, 3)};
  pages.emplace_back();
  pages.back().error = "cannot be read";
  pages[1].logits = {10, 9, 2.5, 3, 4, "x", "y"};
  pages[2].logits = {20, 20, 1.5, 1, 1, "x", "x"};
  const ComparisonSummary all = Summarise(pages);
  EXPECT_EQ(all.pages, 4);
  EXPECT_EQ(all.failed_pages, 1);
  EXPECT_EQ(all.text.edits, 84);
  EXPECT_EQ(all.text.characters, 1100);
  EXPECT_DOUBLE_EQ(all.mean_cer, (0.01 + 0 + 0.1 + 0.03) / 4);
  EXPECT_DOUBLE_EQ(all.median_cer, 0.02);
  EXPECT_DOUBLE_EQ(all.worst_cer, 0.1);
  EXPECT_EQ(all.logits.places, 30);
  EXPECT_EQ(all.logits.same_choice, 29);
  EXPECT_EQ(all.logits.largest, 2.5);
  EXPECT_EQ(all.logits.largest_region, 3);
  EXPECT_EQ(all.largest_logit_page, "a.png page 1");
}

TEST(SummariseTest, WithoutPagesNothingIsDivided) {
  const ComparisonSummary all = Summarise({});
  EXPECT_EQ(all.pages, 0);
  EXPECT_EQ(all.mean_cer, 0);
  EXPECT_EQ(all.text.cer(), 0);
}

TEST(WorstPagesTest, ShowsOnlyPagesThatDifferTheWorstFirst) {
  const std::vector<PageComparison> pages = {PageWith(100, 1), PageWith(100, 0), PageWith(100, 5),
                                             PageWith(100, 2)};
  EXPECT_EQ(WorstPages(pages, 10), (std::vector<size_t>{2, 3, 0}));
  EXPECT_EQ(WorstPages(pages, 1), (std::vector<size_t>{2}));
  EXPECT_TRUE(WorstPages(pages, 0).empty());
}

}  // namespace
}  // namespace platen
