// What the page of a report says of a run's report.
#include "apps/platen/commands/report/report_page.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

std::string PageOf(const std::string& decoding) {
  ReportFacts facts;
  facts.status.job.resize(1);
  const PastRun past = {"2026-11-24T22-00-00Z-7", 7,
                        R"({"totals": {"tokens": 90}, "decoding": )" + decoding + "}"};
  const auto run = ViewOf(past, {});
  EXPECT_TRUE(run);
  EXPECT_EQ(run->number, 7);
  facts.job = facts.read = facts.runs = {*run};
  return ReportPage(facts);
}

TEST(ReportPage, SaysWhatDraftsCost) {
  const std::string page = PageOf(
      R"({"speculation": "on", "acceptance": [{"drafted": 10, "rate": 0.9}], "draft_s": 1.25,)"
      R"("verify_s": 40.5, "rows_wasted": 0.073, "drafts_not_verified": 1234})");
  EXPECT_NE(page.find("Drafting took 1.25 s, the passes of the model 40.5 s. 7 % of their rows "
                      "were for drafts that were wrong; 1,234 drafts were not verified"),
            std::string::npos)
      << page;
}

TEST(ReportPage, SaysNothingOfDraftsWhereNoneWereMade) {
  const std::string page = PageOf(R"({"speculation": "off: no heads", "acceptance": []})");
  EXPECT_NE(page.find("off: no heads"), std::string::npos);
  EXPECT_EQ(page.find("Drafting took"), std::string::npos);
}

TEST(ReportPage, CostsThatCannotBeAreNone) {
  const std::string page =
      PageOf(R"({"acceptance": [{"drafted": 1, "rate": 1}], "draft_s": -1, "verify_s": "x",)"
             R"("rows_wasted": 1e99, "drafts_not_verified": {}})");
  EXPECT_NE(page.find("Drafting took 0.00 s, the passes of the model 0.00 s. 100 % of their rows "
                      "were for drafts that were wrong; 0 drafts were not verified"),
            std::string::npos)
      << page;
}

}  // namespace
}  // namespace platen
