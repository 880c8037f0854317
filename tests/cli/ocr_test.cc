// platen ocr from end to end, with the bundled model.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;
using testing::TempFolder;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Documents' outputs by name; not run.json and what begins with a dot.
std::map<std::string, std::string> Outputs(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || name == "run.json" || name.starts_with(".platen")) continue;
    files[name] = ReadFile(entry.path().string());
  }
  return files;
}

class OcrTest : public ::testing::Test {
 protected:
  void CopySample(const std::string& name, const std::string& to) {
    fs::create_directories((fs::path(folder_.path()) / to).parent_path());
    fs::copy_file(SourcePath("assets/samples/" + name), folder_ / to);
  }

  ProgramResult Ocr(std::vector<std::string> words, const std::string& input = "") {
    words.insert(words.begin(), "ocr");
    return RunProgram(ProgramRun{std::move(words), input, {}, folder_.path()});
  }

  Json Report(const std::string& out = "out") {
    return Json::parse(ReadFile(folder_ / out + "/run.json"));
  }

  TempFolder folder_;
};

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
  EXPECT_EQ(report["totals"]["pages_done"], 1);
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
    const ProgramResult result = RunProgram(ProgramRun{
        {"ocr", "in", "-o", out, "--threads", std::to_string(threads)}, "", {}, folder_.path(),
        [&](int pid) {
          // Before platen starts again without OpenBLAS's threads the task list may show those.
          std::error_code gone;
          if (!fs::exists(folder_ / out + "/.platen/ledger.jsonl", gone)) return;
          fs::directory_iterator tasks("/proc/" + std::to_string(pid) + "/task", gone);
          if (!gone) most = std::max(most, std::distance(fs::begin(tasks), fs::end(tasks)));
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
  folder_.Write("in/cut.png", ReadFile(SourcePath("assets/samples/synthetic/receipt-200.png"))
                                  .substr(0, 3000));
  const ProgramResult result = Ocr({"in", "missing.tif", "-o", "out"});
  EXPECT_EQ(result.exit_code, 1);
  const Json report = Report();
  std::map<std::string, std::string> failures;
  for (const Json& failure : report["failures"]) {
    failures[failure["input"]] = failure["error"];
    EXPECT_TRUE(Contains(result.err, failure["input"].get<std::string>())) << result.err;
  }
  EXPECT_EQ(failures.size(), 5U) << report["failures"];
  for (const char* name : {"in/empty.png", "in/text.png", "in/bomb.pgm", "in/cut.png",
                           "missing.tif"}) {
    EXPECT_NE(failures[name], "") << name;
  }
  EXPECT_EQ(report["totals"]["pages_failed"], 5);
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
  for (const char* out : {"file", "file/below", "/proc/platen"}) {
    const ProgramResult result = Ocr({"a.tif", "-o", out});
    EXPECT_EQ(result.exit_code, 3) << out;
    EXPECT_TRUE(Contains(result.err, out)) << result.err;
  }
}

TEST_F(OcrTest, InputsThatCollideAreRefusedBeforeTheRun) {
  CopySample("pages/phototest.tif", "x/a.tif");
  CopySample("pages/eurotext.tif", "y/a.tif");
  const ProgramResult result = Ocr({folder_ / "x/a.tif", folder_ / "y/a.tif", "-o", "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "out/a.tif.txt"));
}

TEST_F(OcrTest, ListsComeFromStandardInputAndFiles) {
  CopySample("pages/phototest.tif", "a b.tif");
  CopySample("synthetic/receipt-200.png", "c\n\xE9.png");
  folder_.Write("list", "a b.tif\n");
  const ProgramResult result =
      Ocr({"-", "--manifest", "list", "-o", "out", "--format", "txt", "--quiet"},
          std::string("c\n\xE9.png\0", 8));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(Outputs(folder_ / "out").size(), 2U);
  EXPECT_TRUE(fs::exists(folder_ / "out/c\n\xE9.png.txt"));
}

TEST_F(OcrTest, WhatTheBundledModelWasNotTrainedForIsSaid) {
  CopySample("pages/phototest.tif", "a.tif");
  const ProgramResult result = Ocr({"a.tif", "-o", "out", "--task", "table"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(Contains(result.err, "not trained for --task table")) << result.err;
  EXPECT_EQ(Json::parse(ReadFile(folder_ / "out/a.tif.json"))["pages"][0]["regions"][0]["label"],
            "table");
}

TEST_F(OcrTest, AnEmptyFolderIsNothingToDo) {
  fs::create_directory(folder_ / "in");
  const ProgramResult result = Ocr({"in", "-o", "out"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(Contains(result.err, "no documents found"));
}

TEST_F(OcrTest, InterruptedItDrainsAndTheSameCommandFinishes) {
  for (int i = 0; i < 12; ++i) CopySample("pages/eurotext.tif", "in/" + std::to_string(i) + ".tif");
  bool sent = false;
  const ProgramResult first = RunProgram(ProgramRun{
      {"ocr", "in", "-o", "out", "--slots", "2"}, "", {}, folder_.path(), [&](int pid) {
        std::error_code gone;
        if (!sent && fs::exists(folder_ / "out/in/1.tif.txt", gone)) {
          ::kill(pid, SIGINT);
          sent = true;
        }
      }});
  EXPECT_EQ(first.exit_code, 130) << first.err;
  EXPECT_EQ(Report()["result"], "interrupted");
  const int64_t done = Report()["totals"]["pages_done"];
  EXPECT_LT(done, 12);

  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 0);
  EXPECT_EQ(Report()["totals"]["documents_finished_before"], done);
  EXPECT_EQ(Report()["totals"]["pages_done"], 12 - done);
  EXPECT_EQ(Ocr({"in", "-o", "whole"}).exit_code, 0);
  EXPECT_EQ(Outputs(folder_ / "out"), Outputs(folder_ / "whole"));
}

TEST_F(OcrTest, KilledItGoesOnWhereItWas) {
  for (int i = 0; i < 6; ++i) CopySample("pages/eurotext.tif", "in/" + std::to_string(i) + ".tif");
  const ProgramResult killed = RunProgram(ProgramRun{
      {"ocr", "in", "-o", "out", "--slots", "2"}, "", {}, folder_.path(), [&](int pid) {
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
