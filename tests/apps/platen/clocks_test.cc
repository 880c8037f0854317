// Runs on machines whose clocks are wrong, or are set while a run goes on: with libfaketime, which
// gives the program another clock on the wall and leaves it the steady one. Skipped without it.
#include <gtest/gtest.h>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::Outputs;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;

// Empty: it is not installed.
std::string Libfaketime() {
  for (const auto& entry : fs::directory_iterator("/usr/lib")) {
    const fs::path library = entry.path() / "faketime/libfaketimeMT.so.1";
    if (fs::exists(library)) return library;
  }
  return "";
}

class ClocksTest : public testing::OcrFixture {
 protected:
  static constexpr int kDocuments = 6;

  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizer's runtime must be loaded before any other library";
#endif
    if (Libfaketime().empty()) GTEST_SKIP() << "libfaketime is not installed";
    for (int i = 0; i < kDocuments; ++i) {
      const std::string name = "in/" + std::to_string(i) + ".tif";
      CopySample("pages/phototest.tif", name);
      std::ofstream(folder_ / name, std::ios::app) << i;  // each is another file
    }
    ASSERT_EQ(Ocr({"in", "-o", "whole"}).exit_code, 0);
  }

  // "+40y", "-1h", "@1970-01-02 00:00:00": from now on, also of a program that runs.
  void SetClock(const std::string& time) {
    folder_.Write("clock.new", time + "\n");
    fs::rename(folder_ / "clock.new", folder_ / "clock");
  }

  ProgramResult Run(std::vector<std::string> words, std::function<void(int)> meanwhile = {}) {
    return RunProgram(ProgramRun{
        std::move(words),
        "",
        {"LD_PRELOAD=" + Libfaketime(), "FAKETIME_TIMESTAMP_FILE=" + (folder_ / "clock"),
         "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1", "TZ=UTC"},
        folder_.path(),
        std::move(meanwhile)});
  }

  // Sets the clock to each of `times`, one after another, once the run has begun to read.
  std::function<void(int)> Setting(std::vector<std::string> times) {
    return [this, times, next = size_t{0}](int) mutable {
      const fs::path ledger = folder_ / "out/.platen/ledger.jsonl";
      if (next == times.size() || !fs::exists(ledger)) return;
      if (!Contains(ReadFile(ledger), "\"record\":\"page\"")) return;
      SetClock(times[next++]);
      jumps_ = next;
    };
  }

  size_t jumps_ = 0;  // that Setting has made
};

// One page a run. What is read counts, whatever year it was read in, and the latest run is known.
TEST_F(ClocksTest, RunsGoOnWhereTheLastOneEndedWhateverTheYear) {
  const std::vector<std::string> years = {"+40y",
                                          "-2y",
                                          "@1970-01-01 00:00:10",
                                          "@2038-01-19 03:14:07",
                                          "@2300-01-01 00:00:00",
                                          "@1971-01-01 00:00:00"};
  std::vector<std::string> starts;
  for (size_t i = 0; i < years.size(); ++i) {
    SetClock(years[i]);
    const ProgramResult result = Run({"ocr", "in", "-o", "out", "--max-pages", "1"});
    EXPECT_EQ(result.exit_code, 0) << years[i] << result.err;
    const auto report = Report();
    EXPECT_EQ(report["run"], i + 1);
    EXPECT_EQ(report["totals"]["pages_read"], 1) << years[i];
    EXPECT_EQ(report["totals"]["documents_finished_before"], i) << years[i];
    starts.insert(starts.begin(), report["started_at"]);
  }
  EXPECT_TRUE(starts[1].starts_with("2300-01-01T")) << starts[1];
  EXPECT_TRUE(starts[3].starts_with("1970-01-01T")) << starts[3];
  EXPECT_EQ(Outputs(folder_ / "out"), Outputs(folder_ / "whole"));

  const ProgramResult status = Run({"status", "out", "--json"});
  EXPECT_EQ(status.exit_code, 0) << status.out;
  EXPECT_TRUE(Contains(status.out, "\"1971-01-01T")) << status.out;
  EXPECT_EQ(Run({"report", "out"}).exit_code, 0);
  const std::string page = ReadFile(folder_ / "out/report.html");
  size_t last = page.find(">Runs<");
  for (const std::string& start : starts) {
    const size_t place = page.find(start, last);
    ASSERT_NE(place, std::string::npos) << start << " is not behind later runs";
    last = place;
  }

  SetClock("+1y");
  EXPECT_EQ(Run({"ocr", "in", "-o", "out"}).exit_code, 0);
  EXPECT_EQ(Report()["totals"]["documents_finished_before"], kDocuments);
  EXPECT_EQ(Report()["totals"]["pages_read"], 0);
}

// Limits and durations are those of the steady clock.
TEST_F(ClocksTest, AClockThatIsSetInTheMiddleOfARunEndsNothing) {
  SetClock("@2030-01-01 05:00:00");
  const ProgramResult result = Run({"ocr", "in", "-o", "out", "--threads", "1", "--slots", "1",
                                    "--page-timeout", "100000", "--document-timeout", "100000"},
                                   Setting({"@2030-01-01 04:00:00", "@2033-01-01 00:00:00"}));
  EXPECT_EQ(jumps_, 2);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Outputs(folder_ / "out"), Outputs(folder_ / "whole"));
  const auto report = Report();
  EXPECT_EQ(report["totals"]["pages_read"], kDocuments);
  EXPECT_GE(report["time"]["wall_s"].get<double>(), 0);
  EXPECT_LT(report["time"]["wall_s"].get<double>(), 100'000);
  for (const auto& point : report["timeline"]) EXPECT_LT(point["at_s"].get<double>(), 100'000);
}

TEST_F(ClocksTest, AClockThatIsSetForwardEndsNoPageButReachesTheDeadline) {
  const std::vector<std::string> words = {"ocr",
                                          "in",
                                          "-o",
                                          "out",
                                          "--threads",
                                          "1",
                                          "--slots",
                                          "1",
                                          "--deadline",
                                          "06:00",
                                          "--page-timeout",
                                          "100000",
                                          "--document-timeout",
                                          "100000"};
  SetClock("@2030-01-01 05:00:00");
  const ProgramResult result = Run(words, Setting({"@2033-01-01 00:00:00"}));
  EXPECT_EQ(jumps_, 1);
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_EQ(Report()["result"], "deadline");
  EXPECT_EQ(Report()["totals"]["failures"], 0);
  EXPECT_LT(Report()["time"]["wall_s"].get<double>(), 100'000);
  const auto read = Report()["totals"]["pages_read"].get<int>();
  SetClock("-5y");
  EXPECT_EQ(Run({"ocr", "in", "-o", "out"}).exit_code, 0);
  EXPECT_EQ(Report()["totals"]["pages_read"], kDocuments - read) << "none is read twice";
  EXPECT_EQ(Outputs(folder_ / "out"), Outputs(folder_ / "whole"));
}

// Ten minutes pass whenever the program looks at the clock: documents are listed and the model is
// loaded while the time comes.
TEST_F(ClocksTest, TheDeadlineIsThatOfTheStart) {
  SetClock("@2030-01-01 05:40:00 i600");
  const ProgramResult result = Run({"ocr", "in", "-o", "out", "--deadline", "06:00"});
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_EQ(Report()["result"], "deadline");
  EXPECT_EQ(Report()["totals"]["pages_read"], 0);
}

}  // namespace
}  // namespace platen
