#include "model/training/document_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/training/alike_documents.h"

namespace platen::testing {
namespace {

std::vector<TokenId> Answer(unsigned seed, int length = 400) {
  std::mt19937 random(seed);
  std::vector<TokenId> ids(static_cast<size_t>(length));
  for (TokenId& id : ids) id = static_cast<TokenId>(random() % 1000);
  return ids;
}

// A prompt of two tokens, which are the same everywhere, and the answer.
TrainingPage Page(const std::string& document, const std::vector<TokenId>& answer) {
  TrainingPage page;
  page.document = document;
  page.prompt = 2;
  page.ids = {7, 8};
  page.ids.insert(page.ids.end(), answer.begin(), answer.end());
  return page;
}

// The answer with every n-th token misread.
std::vector<TokenId> Misread(std::vector<TokenId> answer, size_t each) {
  for (size_t i = each / 2; i < answer.size(); i += each) answer[i] = 1001;
  return answer;
}

int64_t Count(const std::map<std::string, Part>& parts, Part part) {
  return std::count_if(parts.begin(), parts.end(),
                       [&](const auto& entry) { return entry.second == part; });
}

TEST(AlikeDocuments, CopiesAndThoseThatNearlyAre) {
  const std::vector<TokenId> letter = Answer(1);
  const std::vector<TokenId> other = Answer(3);
  std::vector<TrainingPage> pages = {Page("b-copy", letter), Page("a-letter", letter),
                                     Page("c-misread", Misread(letter, 200)),
                                     Page("d-half", letter), Page("e-other", other)};
  std::copy(other.begin(), other.begin() + 200, pages[3].ids.begin() + 202);
  const auto first_of = AlikeDocuments(pages);
  EXPECT_EQ(first_of.at("a-letter"), "a-letter");
  EXPECT_EQ(first_of.at("b-copy"), "a-letter");
  EXPECT_EQ(first_of.at("c-misread"), "a-letter");
  EXPECT_EQ(first_of.at("d-half"), "d-half");
  EXPECT_EQ(first_of.at("e-other"), "e-other");
}

TEST(AlikeDocuments, InWhateverOrderAndPiecesTheyWereRead) {
  const std::vector<TokenId> first = Answer(1), second = Answer(2);
  const auto first_of = AlikeDocuments(
      {Page("a", first), Page("b", second), Page("a", second), Page("b", first), Page("c", first)});
  EXPECT_EQ(first_of.at("b"), "a");
  EXPECT_EQ(first_of.at("c"), "c");
}

TEST(AlikeDocuments, OneWithoutAnswersIsLikeNoOther) {
  const auto first_of = AlikeDocuments(
      {Page("a", {}), Page("b", {}), Page("c", {5}), Page("d", {5}), Page("e", {6})});
  EXPECT_EQ(first_of.at("b"), "b");
  EXPECT_EQ(first_of.at("d"), "c");
  EXPECT_EQ(first_of.at("e"), "e");
}

// The estimate from 64 pieces against the sets of all pieces.
TEST(AlikeDocuments, AsTheWholeSetsSay) {
  const auto pieces = [](const std::vector<TokenId>& ids) {
    std::set<std::vector<TokenId>> all;
    for (size_t i = 0; i + 8 <= ids.size(); ++i) all.insert({ids.begin() + i, ids.begin() + i + 8});
    return all;
  };
  int alike = 0, not_alike = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::vector<TokenId> a = Answer(seed, 600);
    const std::vector<TokenId> b = Misread(a, 20 + 3 * seed);
    const auto in_a = pieces(a), in_b = pieces(b);
    const auto shared = std::count_if(in_a.begin(), in_a.end(),
                                      [&](const auto& piece) { return in_b.contains(piece); });
    const double share =
        static_cast<double>(shared) / static_cast<double>(in_a.size() + in_b.size() - shared);
    const bool found = AlikeDocuments({Page("a", a), Page("b", b)}).at("b") == "a";
    EXPECT_TRUE(found || share < 0.95) << seed << " " << share;
    EXPECT_TRUE(!found || share > 0.6) << seed << " " << share;
    found ? ++alike : ++not_alike;
  }
  EXPECT_GT(alike, 20);
  EXPECT_GT(not_alike, 20);
}

TEST(DocumentSplit, CopiesStayTogetherAndAreNotUsedOftenerThanATenth) {
  std::vector<TrainingPage> pages;
  for (unsigned i = 0; i < 60; ++i) pages.push_back(Page("page-" + std::to_string(i), Answer(i)));
  for (unsigned i = 0; i < 40; ++i) pages.push_back(Page("form-" + std::to_string(i), Answer(99)));
  for (uint64_t seed = 1; seed < 20; ++seed) {
    const auto parts = SplitDocuments(pages, seed);
    ASSERT_EQ(parts.size(), 100u);
    EXPECT_EQ(Count(parts, Part::kLeftOut), 30);
    std::set<Part> of_forms;
    for (const auto& [document, part] : parts) {
      if (document.starts_with("form") && part != Part::kLeftOut) of_forms.insert(part);
      EXPECT_FALSE(document.starts_with("page") && part == Part::kLeftOut) << document;
    }
    EXPECT_EQ(of_forms.size(), 1u);
  }
}

TEST(DocumentSplit, WhereFewerThanThreeDifferEachStandsForItself) {
  std::vector<TrainingPage> pages;
  for (unsigned i = 0; i < 20; ++i) {
    pages.push_back(Page("form-" + std::to_string(i), Answer(i % 2)));
  }
  const auto parts = SplitDocuments(pages, 1);
  EXPECT_EQ(Count(parts, Part::kTrain), 14);
  EXPECT_EQ(Count(parts, Part::kChoose), 2);
  EXPECT_EQ(Count(parts, Part::kJudge), 4);
}

}  // namespace
}  // namespace platen::testing
