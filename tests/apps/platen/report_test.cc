// platen report: what stands on the page, and that it shows in a browser as it should.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "stages/readers/document_reader.h"
#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;

class ReportTest : public testing::OcrFixture {
 protected:
  ReportTest() {
    CopySample("pages/phototest.tif", "in/a.tif");
    fs::copy_file(SourcePath("tests/data/doubts/greek.png"), folder_ / "in/greek.png");
    folder_.Write("in/<script>alert(1)</script>&\".png", "no image");
  }

  ProgramResult Run(std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"report", "out"});
    return RunProgram(ProgramRun{std::move(words), "", {}, folder_.path(), {}});
  }
  std::string Page() { return ReadFile(folder_ / "out/report.html"); }

  // Pixels of a colour in a screenshot of the page; -1: there is no browser.
  int Pixels(const std::array<uint8_t, 3>& rgb) {
    if (std::system("command -v chromium >/dev/null 2>&1") != 0) return -1;
    const std::string shot = folder_ / "shot.png";
    const std::string command =
        "chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir=" +
        (folder_ / "profile") + " --window-size=1100,2400 --screenshot=" + shot + " file://" +
        fs::absolute(folder_ / "out/report.html").string() + " >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    const Image image = DocumentReader::Open(shot, {})->ReadPage(0).image;
    int count = 0;
    for (size_t i = 0; i + 2 < image.rgb.size(); i += 3) {
      count += std::equal(rgb.begin(), rgb.end(), image.rgb.begin() + static_cast<ptrdiff_t>(i));
    }
    return count;
  }
};

TEST_F(ReportTest, SaysWhatWasReadWhatFailedAndWhatIsDoubtful) {
  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 1);
  const auto before = testing::Outputs(folder_ / "out");
  const ProgramResult result = Run({"--price", "0.02", "--currency", "USD"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "report in out/report.html\n");
  const std::string page = Page();
  for (const char* part :
       {"Finished, 1 failure.", "decode_error", "speculative_decode", "draft 1", "Drafting took ",
        "in/greek.png, page 1", "data:image/jpeg;base64,", "USD", "some pages failed",
        "&lt;script&gt;alert(1)&lt;/script&gt;&amp;"}) {
    EXPECT_TRUE(Contains(page, part)) << part;
  }
  EXPECT_FALSE(Contains(page, "<script"));
  EXPECT_FALSE(Contains(page, "http://") || Contains(page, "https://"));
  fs::remove(folder_ / "out/report.html");
  EXPECT_EQ(testing::Outputs(folder_ / "out"), before);
}

// As after shards: the run over everything has nothing left to read.
TEST_F(ReportTest, OfARunWithoutPagesTheFiguresAreThoseOfTheRunsBefore) {
  CopySample("pages/phototest.tif", "in/b.tif");
  for (const char* shard : {"1/2", "2/2"}) Ocr({"in", "-o", "out", "--shard", shard});
  Ocr({"in", "-o", "out"});
  EXPECT_EQ(Run().exit_code, 0);
  const std::string page = Page();
  for (const char* part : {"It had no page to read.", "pages read by that run", "<b>3</b>",
                           "speculative_decode", "draft 1"}) {
    EXPECT_TRUE(Contains(page, part)) << part;
  }
}

TEST_F(ReportTest, BeforeTheEndOfTheFirstRunSaysWhatIsMissing) {
  folder_.Write("out/.platen/ledger.jsonl", "{\"record\":\"run\",\"run\":1}\n");
  const ProgramResult result = Run();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(Contains(result.err, "no run into this folder has come to its end yet"))
      << result.err;
}

TEST_F(ReportTest, IsTheSameForTheSameFolder) {
  Ocr({"in", "-o", "out"});
  Run();
  const std::string first = Page();
  Run();
  EXPECT_EQ(Page(), first);
}

TEST_F(ReportTest, OfPagesThatWereReadAgainOnlyTheirStateNowCounts) {
  Ocr({"in", "-o", "out"});
  fs::copy_file(folder_ / "in/a.tif", folder_ / "in/greek.png",
                fs::copy_options::overwrite_existing);
  Ocr({"in", "-o", "out"});
  Run();
  EXPECT_FALSE(Contains(Page(), "greek.png")) << "it is doubtful no more";
  EXPECT_TRUE(Contains(Page(), "2 runs in all")) << Page();
}

TEST_F(ReportTest, ADoubtfulPageWhoseScanIsGoneHasNoPicture) {
  Ocr({"in", "-o", "out"});
  fs::remove(folder_ / "in/greek.png");
  Run();
  EXPECT_TRUE(Contains(Page(), "The scan is not where it was read."));
  fs::remove_all(folder_ / "out/.platen/results");
  Run();
  EXPECT_EQ(Run().exit_code, 3) << "the folder of results is gone";
}

TEST_F(ReportTest, HistoriesThatAreNoneSayNothing) {
  Ocr({"in", "-o", "out"});
  fs::path runs = folder_ / "out/.platen/runs";
  for (const auto& entry : fs::directory_iterator(runs)) {
    if (entry.path().string().ends_with(".run.jsonl")) {
      folder_.Write(
          "out/.platen/runs/" + entry.path().filename().string(),
          R"({"totals":{"pages_read":1e300,"pages_failed":"x"},"timeline":[{"at_s":-1e308},)"
          R"({"at_s":1e308,"pages_read":-5}],"time":{"wall_s":1e308,"stages":[1]},)"
          R"("started_at":"2026-11-24T00:00:00Z","doubtful":[{"page":-1,"output":"../x"}],)"
          R"("decoding":{"acceptance":[{"rate":1e99,"drafted":-1}]}})");
    }
  }
  folder_.Write("out/.platen/runs/2026-01-01T00-00-00Z-99.run.jsonl", "[");
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_EQ(Run({"-o", "no/such/folder/x.html"}).exit_code, 3);
  EXPECT_EQ(RunProgram(ProgramRun{{"report", "in"}, "", {}, folder_.path(), {}}).exit_code, 2);
}

TEST_F(ReportTest, ALinkInThePlaceOfThePageIsNotFollowed) {
  Ocr({"in", "-o", "out"});
  folder_.Write("precious", "kept");
  ASSERT_EQ(::symlink("../precious", (folder_ / "out/report.html").c_str()), 0);
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_EQ(ReadFile(folder_ / "precious"), "kept");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder_ / "out/report.html")));
}

// The policy lets the page's own style through, and the lines of a doubtful page lie on its
// picture.
TEST_F(ReportTest, ShowsInABrowser) {
  Ocr({"in", "-o", "out"});
  Run();
  const std::array<uint8_t, 3> bars = {0x2f, 0x6f, 0x8f};
  const int seen = Pixels(bars);
  if (seen < 0) GTEST_SKIP() << "no chromium";
  EXPECT_GT(seen, 5000);
  std::string page = Page();
  page.replace(page.find("sha256-") + 7, 4, "AAAA");
  folder_.Write("out/report.html", page);
  EXPECT_EQ(Pixels(bars), 0) << "the check can fail";
}

}  // namespace
}  // namespace platen
