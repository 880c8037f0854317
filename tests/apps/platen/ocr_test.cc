// platen ocr from end to end, with the bundled model.
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::Contains;
using testing::Outputs;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;

class OcrTest : public testing::OcrFixture {};

TEST_F(OcrTest, ReadsASamplePage) {
  CopySample("pages/phototest.tif", "in/phototest.tif");
  const ProgramResult result = Ocr({"in", "-o", "out"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/in/phototest.tif.txt"), "The quick brown dog"));
  EXPECT_TRUE(Contains(result.out, "out/run.json"));
  EXPECT_FALSE(Contains(result.out + result.err, "quick brown"));
  const Json page = Json::parse(ReadFile(folder_ / "out/in/phototest.tif.json"))["pages"][0];
  const Json& line = page["regions"][0]["lines"][0];
  EXPECT_GT(line["tokens"], 0);
  EXPECT_GT(line["confidence"]["mean"], 0.5);
  EXPECT_LE(line["confidence"]["min"], line["confidence"]["mean"]);
  const Json report = Report();
  EXPECT_EQ(report["result"], "done");
  EXPECT_EQ(report["totals"]["pages_read"], 1);
  EXPECT_GT(report["decoding"]["acceptance"].size(), 0U);
}

TEST_F(OcrTest, ThreadsSlotsBatchesAndDraftsDoNotChangeAByte) {
  CopySample("pages/phototest.tif", "in/1.tif");
  CopySample("synthetic/receipt-200.png", "in/2.png");
  CopySample("pages/eurotext.tif", "in/3.tif");
  const std::vector<std::vector<std::string>> variants = {
      {"--threads", "1", "--slots", "1"},
      {"--threads", "3", "--slots", "8", "--draft-length", "0"},
      {"--threads", "2", "--slots", "2", "--draft-length", "8", "--kv-cache-mib", "4"},
      {"--batch-patches", "1", "--batch-rows", "1", "--draft-length", "1"},
  };
  std::map<std::string, std::string> expected;
  for (size_t i = 0; i < variants.size(); ++i) {
    std::vector<std::string> words = {"in", "-o", "out" + std::to_string(i)};
    words.insert(words.end(), variants[i].begin(), variants[i].end());
    const ProgramResult result = Ocr(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto outputs = Outputs(folder_ / words[2]);
    EXPECT_EQ(outputs.size(), 9U);
    if (i == 0) expected = outputs;
    EXPECT_EQ(outputs, expected) << "variant " << i;
  }
}

// A cache of six blocks, in which lines of this page only just have room, or only just not.
TEST_F(OcrTest, MetricsSayWhatDecodingDidForEachPageAndChangeNoOutput) {
  CopySample("synthetic/letter-200.jpg", "in/b.jpg");
  CopySample("synthetic/form-200.jpg", "in/a.jpg");
  ASSERT_EQ(
      Ocr({"in", "-o", "plain", "--draft-length", "0", "--metrics", "m/plain.jsonl"}).exit_code, 0);
  ASSERT_EQ(Ocr({"in", "-o", "drafts", "--draft-policy", "fixed", "--metrics", "m/drafts.jsonl"})
                .exit_code,
            0);
  EXPECT_EQ(Outputs(folder_ / "plain"), Outputs(folder_ / "drafts"));
  const auto lines = [&](const std::string& name) {
    std::istringstream file(ReadFile(folder_ / name));
    std::vector<nlohmann::json> all;
    for (std::string line; std::getline(file, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  };
  const auto plain = lines("m/plain.jsonl"), drafts = lines("m/drafts.jsonl");
  ASSERT_EQ(plain.size(), 2U);
  ASSERT_EQ(drafts.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(plain[i]["document"], i == 0 ? "in/a.jpg" : "in/b.jpg");
    EXPECT_EQ(plain[i]["page"], 1);
    EXPECT_EQ(plain[i]["tokens"], drafts[i]["tokens"]);
    EXPECT_EQ(plain[i]["drafted"], 0);
    EXPECT_GT(drafts[i]["accepted"], 0);
    EXPECT_LT(drafts[i]["rounds"], plain[i]["rounds"]);
    // Plain: every crop's first token comes from the prefill and every round brings one, a stop
    // token at the end of each.
    EXPECT_EQ(plain[i]["rounds"], plain[i]["tokens"]);
  }
}

TEST_F(OcrTest, DraftsDoNotDecideWhichLinesHaveRoomInTheCache) {
  CopySample("pages/lucasta_p25.jpg", "page.jpg");
  for (const std::string tokens : {"144", "149"}) {
    std::map<std::string, std::string> expected;
    for (const std::string drafts : {"0", "3", "8"}) {
      const std::string out = "out" + tokens + "-" + drafts;
      const ProgramResult result =
          Ocr({"page.jpg", "-o", out, "--precision", "f32", "--kv-cache-mib", "1",
               "--max-new-tokens", tokens, "--draft-length", drafts});
      // With 149 tokens some lines have room and some have not.
      EXPECT_EQ(result.exit_code, tokens == "144" ? 0 : 1) << result.err;
      const auto outputs = Outputs(folder_ / out);
      EXPECT_EQ(outputs.size(), 3U);
      if (drafts == "0") expected = outputs;
      EXPECT_EQ(outputs, expected) << tokens << " tokens, " << drafts << " drafts";
    }
  }
}

TEST_F(OcrTest, TheProcessHasExactlyTheThreadsAskedFor) {
  CopySample("pages/lucasta_p25.jpg", "in/1.jpg");
  CopySample("pages/histoire_p214.png", "in/2.png");
  CopySample("pages/eurotext.tif", "in/3.tif");
  for (const int threads : {1, 2, 3}) {
    std::ptrdiff_t most = 0;
    const std::string out = "out" + std::to_string(threads);
    const ProgramResult result = RunProgram(
        ProgramRun{{"ocr", "in", "-o", out, "--threads", std::to_string(threads)},
                   "",
                   {},
                   folder_.path(),
                   [&](int pid) {
                     // As the program starts the task list may show threads of OpenBLAS.
                     std::error_code gone;
                     if (!fs::exists(folder_ / out + "/.platen/ledger.jsonl", gone)) return;
                     fs::directory_iterator tasks("/proc/" + std::to_string(pid) + "/task", gone);
                     if (gone) return;
                     // One that sleeps, and looks whether the file system answers.
                     const auto works = [](const fs::directory_entry& task) {
                       std::string name;
                       std::getline(std::ifstream(task.path() / "comm"), name);
                       return name != "platen-watch";
                     };
                     most = std::max(most, std::count_if(fs::begin(tasks), fs::end(tasks), works));
                   }});
    EXPECT_EQ(result.exit_code, 0) << result.err;
#ifdef __SANITIZE_THREAD__
    if (threads > 1) --most;  // the sanitizer starts a thread of its own with the first other one
#endif
    EXPECT_EQ(most, threads);
  }
}

TEST_F(OcrTest, BadInputsFailByThemselvesWithAReason) {
  CopySample("pages/phototest.tif", "in/good.tif");
  folder_.Write("in/empty.png", "");
  folder_.Write("in/text.png", "this is no image at all, but long enough to look at");
  folder_.Write("in/dot.pgm", "P5 1 1 255\n\xFF");
  folder_.Write("in/blank.pgm", "P5 600 400 255\n" + std::string(600 * 400, '\xFF'));
  folder_.Write("in/bomb.pgm", "P5 60000 60000 255\n");
  folder_.Write("in/cut.png",
                ReadFile(SourcePath("assets/samples/synthetic/receipt-200.png")).substr(0, 3000));
  const ProgramResult result = Ocr({"in", "-o", "out"});
  EXPECT_EQ(result.exit_code, 1);
  const Json report = Report();
  std::map<std::string, std::string> failures;
  for (const Json& failure : report["failures"]) {
    failures[failure["input"]] = failure["error"];
    const std::string line =
        failure["input"].get<std::string>() + ": " + failure["error"].get<std::string>();
    EXPECT_TRUE(Contains(result.err, line)) << line << " in " << result.err;
  }
  EXPECT_EQ(failures.size(), 4U) << report["failures"];
  for (const char* name : {"in/empty.png", "in/text.png", "in/bomb.pgm", "in/cut.png"}) {
    EXPECT_NE(failures[name], "") << name;
  }
  EXPECT_EQ(failures["in/cut.png"], "cut off at byte 3,000 (PNG)");
  EXPECT_EQ(report["totals"]["documents_failed"], 4);
  EXPECT_EQ(report["totals"]["pages_failed"], 2);  // the others have no pages
  EXPECT_EQ(report["totals"]["pages_read"], 3);
  EXPECT_EQ(ReadFile(folder_ / "out/in/blank.pgm.txt"), "");
  EXPECT_EQ(ReadFile(folder_ / "out/in/dot.pgm.txt"), "");
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/in/good.tif.txt"), "quick brown"));
  EXPECT_EQ(Json::parse(ReadFile(folder_ / "out/in/empty.png.json"))["pages"][0]["error"],
            failures["in/empty.png"]);
}

TEST_F(OcrTest, AMissingOrDamagedModelEndsWithThreeAndNamesTheFile) {
  CopySample("pages/phototest.tif", "a.tif");
  const ProgramResult missing = Ocr({"a.tif", "-o", "out", "--model", "nowhere"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_TRUE(Contains(missing.err, "nowhere")) << missing.err;

  fs::copy(SourcePath("assets/platen-mini"), folder_ / "model", fs::copy_options::recursive);
  fs::resize_file(folder_ / "model/model.safetensors", 1000);
  const ProgramResult damaged = Ocr({"a.tif", "-o", "out", "--model", "model"});
  EXPECT_EQ(damaged.exit_code, 3);
  EXPECT_TRUE(Contains(damaged.err, "model.safetensors")) << damaged.err;
}

TEST_F(OcrTest, AnOutputFolderThatCannotBeWrittenEndsWithThree) {
  CopySample("pages/phototest.tif", "a.tif");
  folder_.Write("file", "");
  for (const char* out : {"file/below", "/proc/platen"}) {
    const ProgramResult result = Ocr({"a.tif", "-o", out});
    EXPECT_EQ(result.exit_code, 3) << out;
    EXPECT_TRUE(Contains(result.err, out)) << result.err;
  }
}

TEST_F(OcrTest, AFileInPlaceOfTheOutputFolderIsAWrongOption) {
  folder_.Write("file", "mine");
  for (const char* more : {"-q", "--dry-run"}) {
    const ProgramResult result = Ocr({"nowhere.tif", "-o", "file", more});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(Contains(result.err, "file: --output: is no folder; name one")) << result.err;
  }
  EXPECT_EQ(ReadFile(folder_ / "file"), "mine");
}

TEST_F(OcrTest, WhatTheBundledModelWasNotTrainedForIsSaid) {
  CopySample("pages/phototest.tif", "a.tif");
  const ProgramResult result = Ocr({"a.tif", "-o", "out", "--task", "table"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(Contains(result.err, "not trained for --task table")) << result.err;
  EXPECT_EQ(Json::parse(ReadFile(folder_ / "out/a.tif.json"))["pages"][0]["regions"][0]["label"],
            "table");
}

TEST_F(OcrTest, InterruptedItDrainsAndTheSameCommandFinishes) {
  const std::string sample = ReadFile(SourcePath("assets/samples/pages/eurotext.tif"));
  for (int i = 0; i < 12; ++i) {  // a byte behind the image: copies would be read once
    folder_.Write("in/" + std::to_string(i) + ".tif", sample + static_cast<char>(i));
  }
  bool sent = false;
  const ProgramResult first = RunProgram(
      ProgramRun{{"ocr", "in", "-o", "out", "--slots", "2"}, "", {}, folder_.path(), [&](int pid) {
                   std::error_code gone;
                   if (!sent && fs::exists(folder_ / "out/in/1.tif.txt", gone)) {
                     ::kill(pid, SIGINT);
                     sent = true;
                   }
                 }});
  EXPECT_EQ(first.exit_code, 130) << first.err;
  EXPECT_TRUE(Contains(first.err, "press Ctrl-C (or send the signal) again")) << first.err;
  EXPECT_TRUE(Contains(first.out, "stopped early; the same command does the rest")) << first.out;
  EXPECT_EQ(Report()["result"], "interrupted");
  const int64_t done = Report()["totals"]["pages_read"];
  EXPECT_LT(done, 12);
  EXPECT_EQ(Report()["totals"]["documents_not_read"], 12 - done);
  EXPECT_TRUE(Contains(first.out, ", " + std::to_string(12 - done) + " not read")) << first.out;

  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 0);
  EXPECT_EQ(Report()["totals"]["documents_finished_before"], done);
  EXPECT_EQ(Report()["totals"]["pages_read"], 12 - done);
  EXPECT_EQ(Ocr({"in", "-o", "whole"}).exit_code, 0);
  EXPECT_EQ(Outputs(folder_ / "out"), Outputs(folder_ / "whole"));
}

class SignalTest : public testing::OcrFixture {
 protected:
  // Copies would be read once.
  void WriteDifferentPages(int count) {
    const std::string page = ReadFile(SourcePath("assets/samples/pages/eurotext.tif"));
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      folder_.Write("in/" + number + ".tif", page + number);  // readers of TIFF do not look there
    }
  }
};

TEST_F(SignalTest, AClosedTerminalDrainsAndASecondSignalEndsAtOnce) {
  WriteDifferentPages(8);
  for (const int signals : {1, 2}) {
    bool sent = false;
    const std::string out = "out" + std::to_string(signals);
    const ProgramResult result = RunProgram(
        ProgramRun{{"ocr", "in", "-o", out, "--slots", "2"}, "", {}, folder_.path(), [&](int pid) {
                     std::error_code gone;
                     // Again and again: of two that are sent at once, either may arrive first.
                     if (sent && signals == 2) ::kill(pid, SIGINT);
                     if (sent || !fs::exists(folder_ / out + "/in/0.tif.txt", gone)) return;
                     ::kill(pid, signals == 1 ? SIGHUP : SIGTERM);
                     sent = true;
                   }});
    EXPECT_EQ(result.exit_code, 130) << result.err;
    EXPECT_EQ(Exists(out + "/run.json"), signals == 1);
    EXPECT_EQ(Contains(result.err, "stopped at once"), signals == 2) << result.err;
  }
}

// As a scheduler sends them to a job's script, which passes its own on, and to its children.
TEST_F(SignalTest, SignalsThatComeTogetherAreOneRequest) {
  WriteDifferentPages(8);
  bool sent = false;
  const ProgramResult result = RunProgram(
      ProgramRun{{"ocr", "in", "-o", "out", "--slots", "2"}, "", {}, folder_.path(), [&](int pid) {
                   std::error_code gone;
                   if (sent || !fs::exists(folder_ / "out/in/0.tif.txt", gone)) return;
                   ::kill(pid, SIGTERM);
                   ::kill(pid, SIGHUP);
                   sent = true;
                 }});
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_FALSE(Contains(result.err, "stopped at once")) << result.err;
  EXPECT_EQ(Report()["result"], "interrupted");
}

TEST_F(OcrTest, KilledItGoesOnWhereItWas) {
  for (int i = 0; i < 6; ++i) CopySample("pages/eurotext.tif", "in/" + std::to_string(i) + ".tif");
  const ProgramResult killed = RunProgram(
      ProgramRun{{"ocr", "in", "-o", "out", "--slots", "2"}, "", {}, folder_.path(), [&](int pid) {
                   // A document is recorded after its outputs: with two of them one is on record.
                   std::error_code gone;
                   if (fs::exists(folder_ / "out/in/0.tif.json", gone) &&
                       fs::exists(folder_ / "out/in/1.tif.json", gone)) {
                     ::kill(pid, SIGKILL);
                   }
                 }});
  EXPECT_EQ(killed.exit_code, 128 + SIGKILL);
  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 0);
  EXPECT_GE(Report()["totals"]["documents_finished_before"], 1);
  EXPECT_EQ(Ocr({"in", "-o", "whole"}).exit_code, 0);
  EXPECT_EQ(Outputs(folder_ / "out"), Outputs(folder_ / "whole"));
}

}  // namespace
}  // namespace platen
