// Options that bound a run, and what tells how it went: history, metrics, lines of JSON, plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing::Contains;
using testing::Outputs;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;

class NightTest : public testing::OcrFixture {
 protected:
  NightTest() {
    CopySample("pages/phototest.tif", "in/a.tif");
    CopySample("pages/in_russian_trenches_p27.png", "in/b.png");
    CopySample("pages/eurotext.tif", "in/c.tif");
  }

  std::map<std::string, std::string> Undisturbed() {
    EXPECT_EQ(Ocr({"in", "-o", "whole"}).exit_code, 0);
    return Outputs(folder_ / "whole");
  }

  std::vector<std::string> RunFiles() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / "out/.platen/runs")) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(NightTest, MaxPagesEndsWithZeroAndTheNextRunGoesOn) {
  const ProgramResult first = Ocr({"in", "-o", "out", "--max-pages", "2"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(Contains(first.out, "stopped at --max-pages; the same command does the rest"));
  EXPECT_EQ(Report()["result"], "page limit");
  EXPECT_EQ(Report()["totals"]["documents_not_read"], 1);
  EXPECT_EQ(RunProgram(ProgramRun{{"status", "out"}, "", {}, folder_.path(), {}}).exit_code, 130);
  EXPECT_EQ(Ocr({"in", "-o", "out", "--max-pages", "2"}).exit_code, 0);
  EXPECT_EQ(Report()["result"], "done");
  EXPECT_EQ(Outputs(folder_ / "out"), Undisturbed());
}

TEST_F(NightTest, APageThatTakesTooLongIsTriedAgainFromTheListOfFailures) {
  EXPECT_EQ(Ocr({"in", "-o", "out", "--page-timeout", "0.000001"}).exit_code, 1);
  EXPECT_EQ(Report()["failure_reasons"], (json{{"timeout", 3}}));
  EXPECT_EQ(Report()["failures"][0]["code"], "timeout");
  for (const auto& [name, bytes] : Outputs(folder_ / "out")) {
    EXPECT_FALSE(Contains(bytes, "quick brown")) << name;
  }
  const ProgramResult again = Ocr({"--manifest", "out/failures.jsonl", "-o", "out"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Report()["totals"]["documents_read"], 3);
  EXPECT_EQ(Outputs(folder_ / "out"), Undisturbed());
}

// When the folder is listed, when the file is hashed, when a page is decoded.
TEST_F(NightTest, AReadThatDoesNotComeBackCostsItsDocumentAlone) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's runtime must be loaded before any other library";
#endif
  const std::vector<std::string> hanging = {"HANGING_OPEN=b.png", "HANGING_READ=b.png"};
  for (const auto& [variable, after] :
       {std::pair(0, "0"), std::pair(1, "0"), std::pair(1, "1"), std::pair(1, "5")}) {
    fs::remove_all(folder_ / "out");
    const ProgramResult result =
        Ocr({"in", "-o", "out", "--threads", "1", "--page-timeout", "8"}, "",
            {"LD_PRELOAD=" PLATEN_HANGING_READ, hanging[static_cast<size_t>(variable)],
             std::string("HANGING_AFTER=") + after});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_TRUE(Contains(result.err, "b.png: the system has not come back from ")) << result.err;
    EXPECT_EQ(Report()["failures"][0]["code"], "timeout");
    EXPECT_TRUE(Exists("out/in/c.tif.txt"));
  }
  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 0);
  EXPECT_EQ(Outputs(folder_ / "out"), Undisturbed());
}

TEST_F(NightTest, ADeadlineMustBeATimeThatIsToCome) {
  for (const char* text :
       {"25:00", "6", "06:00:00", "tomorrow", "2026-13-01 06:00", "2026-02-30 06:00", "06:00 "}) {
    const ProgramResult result = Ocr({"in", "-o", "out", "--deadline", text});
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_TRUE(Contains(result.err, "--deadline: \"" + std::string(text) + "\" is no time"))
        << result.err;
  }
  const ProgramResult over = Ocr({"in", "-o", "out", "--deadline", "2001-01-01T06:00"});
  EXPECT_EQ(over.exit_code, 2);
  EXPECT_TRUE(Contains(over.err, "is over already")) << over.err;
  EXPECT_FALSE(Exists("out"));
  EXPECT_EQ(Ocr({"in", "-o", "out", "--deadline", "2999-01-01 06:00"}).exit_code, 0);
}

TEST_F(NightTest, AMemoryLimitIsASizeWithItsUnit) {
  for (const char* text : {"6", "G", "6X", "6 G", "-1G", "1M", "nanG", "6GG"}) {
    const ProgramResult result = Ocr({"in", "-o", "out", "--memory-limit=" + std::string(text)});
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_TRUE(Contains(result.err, "--memory-limit: ")) << result.err;
  }
  EXPECT_EQ(Ocr({"in", "-o", "small", "--memory-limit", "256MiB", "-v"}).exit_code, 0);
  EXPECT_EQ(Report("small")["hardware"]["slots"], 1);
  EXPECT_EQ(Outputs(folder_ / "small"), Undisturbed());
}

TEST_F(NightTest, APlanSaysWhatWouldBeReadAndTouchesNothing) {
  const ProgramResult first = Ocr({"in", "-o", "out", "--dry-run"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(Contains(first.out, "would read 3 documents, 3 pages; 0 finished before\n"))
      << first.out;
  EXPECT_TRUE(Contains(first.out, "platen doctor")) << first.out;
  EXPECT_FALSE(Exists("out"));
  EXPECT_EQ(Ocr({"in/a.tif", "in/b.png", "-o", "out", "--input-root", "."}).exit_code, 0);
  folder_.Write("in/d.png", "no image");
  folder_.Write("in/e.png", "\x89PNG\r\n\x1A\n");
  const auto before = RunFiles();
  const ProgramResult second = Ocr({"in", "-o", "out", "--dry-run"});
  EXPECT_TRUE(Contains(second.out, "; 2 finished before\n")) << second.out;
  EXPECT_TRUE(Contains(second.out, "in/d.png: ")) << second.out;
  EXPECT_TRUE(Contains(second.out, "at the rate of the run of 20")) << second.out;
  EXPECT_EQ(RunFiles(), before);
  const ProgramResult forced = Ocr({"in", "-o", "out", "--dry-run", "--force"});
  EXPECT_TRUE(Contains(forced.out, "; 0 finished before\n")) << forced.out;
}

TEST_F(NightTest, EveryRunLeavesAReportAndTheEndOfItsDocuments) {
  folder_.Write("in/d.png", "no image");
  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 1);
  const std::string first = ReadFile(folder_ / "out/run.json");
  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 1);
  const auto names = RunFiles();
  ASSERT_EQ(names.size(), 4U);
  const auto json_of = [&](const std::string& name) {
    return json::parse(ReadFile(folder_ / "out/.platen/runs/" + name));
  };
  EXPECT_EQ(json_of(names[1]), json::parse(first));
  EXPECT_EQ(json_of(names[3]), Report());
  std::istringstream lines(ReadFile(folder_ / "out/.platen/runs/" + names[0]));
  std::map<std::string, std::string> states;
  for (std::string line; std::getline(lines, line);) {
    const json document = json::parse(line);
    states[document["output"]] = document["state"];
  }
  EXPECT_EQ(states, (std::map<std::string, std::string>{{"in/a.tif", "read"},
                                                        {"in/b.png", "read"},
                                                        {"in/c.tif", "read"},
                                                        {"in/d.png", "failed"}}));
  const json report = json::parse(first);
  EXPECT_EQ(report["run"], 1);
  EXPECT_EQ(report["command"], (json{"platen", "ocr", "in", "-o", "out"}));
  EXPECT_EQ(report["timeline"].back()["pages_read"], 3);
  EXPECT_EQ(Report()["run"], 2);
}

TEST_F(NightTest, MetricsAreThereFromTheStartAndSayHowTheRunEnded) {
  folder_.Write("in/d.png", "no image");
  EXPECT_EQ(Ocr({"in", "-o", "out", "--metrics-file", "metrics/platen.prom"}).exit_code, 1);
  const std::string text = ReadFile(folder_ / "metrics/platen.prom");
  for (const char* line :
       {"platen_pages_read_total 3\n", "platen_documents 4\n", "platen_run_finished 1\n",
        "platen_exit_code 1\n", "platen_failures_by_reason{reason=\"decode_error\"} 1\n"}) {
    EXPECT_TRUE(Contains(text, line)) << line << text;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "metrics"), fs::directory_iterator()),
            1);
  fs::create_directory(folder_ / "taken.prom");
  EXPECT_EQ(Ocr({"in", "-o", "out2", "--metrics-file", "taken.prom"}).exit_code, 3);
}

std::vector<json> MessagesIn(const std::string& err) {
  std::vector<json> messages;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) {
    messages.push_back(json::parse(line));
    EXPECT_TRUE(messages.back().contains("time") && messages.back().contains("message")) << line;
  }
  return messages;
}

TEST_F(NightTest, MessagesCanBeLinesOfJson) {
  folder_.Write("in/\"d\n.png", "no image");
  const ProgramResult result =
      Ocr({"in", "-o", "out", "--log-format", "json", "--progress-interval", "0.001", "-v"});
  std::map<std::string, int> levels;
  for (const json& message : MessagesIn(result.err)) {
    ++levels[message["level"]];
    if (message["level"] == "progress") {
      EXPECT_TRUE(message["pages_read"].is_number());
    }
  }
  EXPECT_GE(levels["info"], 1);
  EXPECT_EQ(levels["warning"], 1);
  EXPECT_GE(levels["debug"], 3);
  EXPECT_GE(levels["progress"], 1);
}

// The signal handler writes its line by itself.
TEST_F(NightTest, AnInterruptionIsALineOfJsonWithTheTime) {
  const std::string sample = ReadFile(SourcePath("assets/samples/pages/eurotext.tif"));
  for (int i = 0; i < 12; ++i) {
    folder_.Write("in/d" + std::to_string(i) + ".tif", sample + static_cast<char>(i));
  }
  bool sent = false;
  const ProgramResult result =
      RunProgram(ProgramRun{{"ocr", "in", "-o", "out", "--slots", "1", "--log-format", "json"},
                            "",
                            {},
                            folder_.path(),
                            [&](int pid) {
                              if (!sent && fs::exists(folder_ / "out/in/a.tif.txt"))
                                sent = ::kill(pid, SIGINT) == 0;
                            }});
  EXPECT_EQ(result.exit_code, 130) << result.err;
  const std::vector<json> messages = MessagesIn(result.err);
  const auto stopping = std::find_if(messages.begin(), messages.end(), [](const json& message) {
    return message["message"].get<std::string>().starts_with("stopping: ");
  });
  ASSERT_NE(stopping, messages.end()) << result.err;
  EXPECT_GE((*stopping)["time"], messages.front()["time"]);
  EXPECT_LE((*stopping)["time"], Report()["ended_at"]);
}

}  // namespace
}  // namespace platen
