// Formats with a file for each page: which files there are, and which are left behind.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/support/fake_pages.h"

namespace platen {
namespace {

using testing::FakeRun;
using testing::Outputs;
using testing::TempFolder;

class PageOutputs : public ::testing::Test {
 protected:
  PageOutputs() : run_(folder_) {
    folder_.Write("in/a.tif", "ppp");
    run_.identity.formats = {"txt", "alto"};
  }

  std::set<std::string> Files() {
    std::set<std::string> names;
    for (const auto& [name, bytes] : Outputs(folder_ / "out")) {
      names.insert(std::filesystem::path(name).filename().string());
    }
    return names;
  }

  using Names = std::set<std::string>;
  const Names three_ = {"a.tif.txt", "a.tif.p0001.alto.xml", "a.tif.p0002.alto.xml",
                        "a.tif.p0003.alto.xml"};
  TempFolder folder_;
  FakeRun run_;
};

TEST_F(PageOutputs, EveryPageHasAFileAndAllMustBeThere) {
  run_.Go();
  EXPECT_EQ(Files(), three_);
  EXPECT_EQ(run_.Go().totals.documents_skipped, 1);
  std::filesystem::remove(folder_ / "out/in/a.tif.p0002.alto.xml");
  EXPECT_EQ(run_.Go().totals.documents_skipped, 0);
  EXPECT_EQ(Files(), three_);
  folder_.Write("out/in/a.tif.p0003.alto.xml", "cut");
  EXPECT_EQ(run_.Go().totals.documents_skipped, 0);
  EXPECT_EQ(run_.Go().totals.documents_skipped, 1);
}

TEST_F(PageOutputs, ChosenPagesHaveFilesAndAddUp) {
  run_.options.source.pages = {{2, 2}};
  run_.Go();
  EXPECT_EQ(Files(), (Names{"a.tif.txt", "a.tif.p0002.alto.xml"}));
  EXPECT_EQ(run_.Go().totals.documents_skipped, 1);
  run_.options.source.pages = {};
  run_.Go();
  EXPECT_EQ(Files(), three_);
}

TEST_F(PageOutputs, ADocumentThatShrinksLeavesNoPagesBehind) {
  run_.Go();
  folder_.Write("out/in/a.tif.p0009.alto.xml", "not ours");
  folder_.Write("in/a.tif", "pp");
  run_.Go();
  EXPECT_EQ(Files(), (Names{"a.tif.txt", "a.tif.p0001.alto.xml", "a.tif.p0002.alto.xml",
                            "a.tif.p0009.alto.xml"}));
  folder_.Write("in/a.tif", "p");
  run_.Go();
  EXPECT_EQ(Files(), (Names{"a.tif.txt", "a.tif.alto.xml", "a.tif.p0009.alto.xml"}));
  folder_.Write("in/a.tif", "ppp");
  run_.Go();
  EXPECT_FALSE(Files().contains("a.tif.alto.xml"));
}

TEST_F(PageOutputs, OtherFormatsKeepTheirFiles) {
  run_.identity.formats = {"page"};
  run_.Go();
  folder_.Write("in/a.tif", "p");
  run_.identity.formats = {"alto"};
  run_.Go();
  EXPECT_TRUE(Files().contains("a.tif.p0003.page.xml"));
}

TEST_F(PageOutputs, PagesOfAnEarlierRunAreASuccessThatAFailureDoesNotReplace) {
  run_.identity.formats = {"alto"};
  run_.options.source.pages = {{2, 3}};
  run_.Go();
  folder_.Write("in/a.tif", "!");  // cannot be opened
  EXPECT_EQ(run_.Go().totals.documents_failed, 1);
  EXPECT_EQ(Files(), (Names{"a.tif.p0002.alto.xml", "a.tif.p0003.alto.xml"}));
}

TEST_F(PageOutputs, ALedgerNamesNoOtherFiles) {
  run_.Go();
  folder_.Write("out/in/a.tif.p1.alto.xml", "precious");
  folder_.Write("out/in/a.tif.p0001.alto.xml.alto.xml", "precious");
  std::string ledger = testing::ReadFile(folder_ / "out/.platen/ledger.jsonl");
  for (const char* name : {"p1.alto.xml", "p0001.alto.xml.alto.xml", "/../../x.alto.xml"}) {
    const size_t at = ledger.rfind("\"outputs\":{") + 11;
    ledger.insert(at, "\"" + std::string(name) + "\":8,");
  }
  const size_t sum = ledger.rfind(",\"sum\":");  // whoever forges a record can leave it out
  ledger.erase(sum, ledger.find('}', sum) - sum);
  folder_.Write("out/.platen/ledger.jsonl", ledger);
  folder_.Write("in/a.tif", "p");
  run_.Go();
  EXPECT_TRUE(Files().contains("a.tif.p1.alto.xml"));
  EXPECT_TRUE(Files().contains("a.tif.p0001.alto.xml.alto.xml"));
  EXPECT_FALSE(Files().contains("a.tif.p0001.alto.xml"));
}

}  // namespace
}  // namespace platen
