// Words on the command line: help, options, configuration files, exit codes.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/apps/platen/program.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;
using testing::TempFolder;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(UsageTest, WithoutACommandTheOverviewIsShown) {
  const ProgramResult result = RunProgram(std::vector<std::string>{});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(Contains(result.out, "platen ocr"));
}

TEST(UsageTest, EveryCommandHasHelpOnStandardOutput) {
  for (const char* command :
       {"ocr", "export", "clean", "run", "fetch", "inspect", "pack", "draft-vocabulary", "doctor",
        "compare", "forward", "bench", "help", "completion"}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{command, "--help"}, {"help", command}, {command, "-h"}}) {
      const ProgramResult result = RunProgram(words);
      EXPECT_EQ(result.exit_code, 0) << command << result.err;
      EXPECT_TRUE(Contains(result.out, "Usage: platen " + std::string(command))) << result.out;
      EXPECT_EQ(result.err, "");
    }
  }
}

TEST(UsageTest, TheVersionIsOneLine) {
  const ProgramResult result = RunProgram({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.starts_with("platen ")) << result.out;
}

TEST(UsageTest, WhatIsUnknownIsAnErrorThatNamesTheNearest) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"orc", "x"}, "did you mean ocr?"},
      {{"ocr", "x", "-o", "/tmp/x", "--drft-length", "3"}, "did you mean --draft-length?"},
      {{"ocr", "x", "-o", "/tmp/x", "--drft-length=3"}, "did you mean --draft-length?"},
      {{"inspect", "--jsn"}, "did you mean --json?"},
      {{"ocr", "x", "-o", "/tmp/x", "--zzzzzzzzzzzzzzz"},
       "--zzzzzzzzzzzzzzz: unknown option; --help lists all of them"},
      {{"ocr", "x", "--lang", "eng"}, "--lang: platen has no language option; the model decides"},
      {{"ocr", "x", "-l", "eng"}, "-l: platen has no language option; the model decides"},
      {{"ocr", "x", "--out", "y"}, "did you mean --output?"},
      {{"ocr", "x", "--resume"}, "is not needed: the same command goes on"},
      {{"ocr", "x", "--f32-gemm", "openblas"}, "--f32-gemm: is not needed: platen always"},
      {{"ocr", "x", "--threads", "2", "--threads", "3"}, "--threads: given more than once"},
      {{"ocr", "x", "--slots"}, "--slots: needs a value"},
      {{"ocr", "x", "--format", "txt,txt"}, "--format: \"txt\" is given twice"},
      {{"ocr", "-o", "y"}, "no input given; name files, a folder or - (see platen ocr --help)"},
      {{"zzzz"}, "no such command; platen help lists all of them"},
  };
  for (const auto& [words, message] : cases) {
    const ProgramResult result = RunProgram(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(Contains(result.err, message)) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

TEST(UsageTest, WhatOthersCallThreadsAndVerboseIsUnderstood) {
  EXPECT_EQ(RunProgram({"ocr", "/nowhere", "-j", "1", "-v"}).err,
            "error: /nowhere: no such file or folder\n");
}

TEST(UsageTest, TheFormerNameOfAnOptionIsUnderstoodWithANotice) {
  const ProgramResult result = RunProgram({"ocr", "/nowhere", "--vision-attention", "f32"});
  EXPECT_EQ(result.err,
            "warning: --vision-attention is called --attention; the next release will not know "
            "--vision-attention any more\nerror: /nowhere: no such file or folder\n");
}

TEST(UsageTest, AMisspeltVariableIsNamedWithTheRightOne) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"PLATEN_THREDS=4",
       "PLATEN_THREDS: this variable of the environment is not used; did you "
       "mean PLATEN_THREADS?"},
      {"PLATEN_OUT=/tmp", "did you mean PLATEN_OUTPUT?"},
      {"PLATEN_PAGE_TIMOUT=5", "did you mean PLATEN_PAGE_TIMEOUT?"},
      {"PLATEN_VISION_ATTENTION=f32", "is called PLATEN_ATTENTION"},
      {"PLATEN_LANG=deu", "platen has no language option; the model decides"},
      {"PLATEN_THREADS\x9b=", "PLATEN_THREADS\\x9b: "},
  };
  for (const auto& [variable, message] : cases) {
    for (const char* command : {"status", "ocr"}) {
      const ProgramResult result =
          RunProgram({.words = {command, "/nowhere"}, .environment = {variable}});
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_TRUE(Contains(result.err, message)) << result.err;
      EXPECT_TRUE(result.err.starts_with("warning: PLATEN_")) << result.err;
    }
  }
}

TEST(UsageTest, VariablesOfOtherCommandsAndOfScriptsAreNoMistake) {
  const ProgramResult result = RunProgram(
      {.words = {"status", "/nowhere"},
       .environment = {"PLATEN_DPI=300", "PLATEN_OLDER_THAN=3d", "PLATEN_DIR=/opt/platen",
                       "PLATEN_HOME=/opt/platen", "PLATEN_SERVICE_HOST=10.0.0.1",
                       "PLATEN_PROGRAM=x", "PLATEN_=x"}});
  EXPECT_EQ(result.err, "error: /nowhere: no such folder\n");
}

TEST(UsageTest, AnEmptyNameNeverMeansTheBundledModelOrTheFolderOneIsIn) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"pack", ""}, "error: pack: the name of the model is empty\n"},
      {{"inspect", ""}, "error: inspect: the name of the model is empty\n"},
      {{"forward", ""}, "error: forward: the name of the model is empty\n"},
      {{"ocr", "x", "--model", ""}, "error: --model: needs a value\n"},
      {{"ocr", "x", "-o", ""}, "error: --output: needs a value\n"},
      {{"ocr", "x", "--model="}, "error: --model: needs a value\n"},
      {{"status", ""}, "error: the name of the folder is empty\n"},
      {{"export", ""}, "error: the name of the folder is empty\n"},
      {{"clean", ""}, "error: the name of the folder is empty\n"},
      {{"report", ""}, "error: the name of the folder is empty\n"},
  };
  for (const auto& [words, message] : cases) {
    const ProgramResult result = RunProgram(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err, message);
    EXPECT_EQ(result.out, "");
  }
}

TEST(UsageTest, AFormerChoiceIsRefusedWithWhatToTakeInstead) {
  for (const char* former : {"bf16", "bf16-dot"}) {
    const ProgramResult result = RunProgram({"ocr", "/nowhere", "--attention", former});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(Contains(result.err, "--attention: \"" + std::string(former) +
                                         "\" is no more; take \"int8\" instead"))
        << result.err;
  }
}

TEST(UsageTest, TheOverviewGroupsEveryCommand) {
  const std::string overview = RunProgram({"help"}).out;
  size_t at = 0;
  for (const char* part : {"The job:\n  ocr ", "Models:\n  fetch ", "\n  inspect ",
                           "Measuring:\n  doctor ", "\n  bench ", "Help:\n  help ", "--version"}) {
    at = overview.find(part, at);
    EXPECT_NE(at, std::string::npos) << part << " in " << overview;
  }
}

TEST(UsageTest, ControlCharactersNeverReachTheTerminal) {
  const ProgramResult result = RunProgram({"ocr", "/nowhere\033[31m\u009b1m", "-o", "x\033[31m"});
  EXPECT_TRUE(Contains(result.err, "/nowhere\\x1b[31m")) << result.err;
  EXPECT_FALSE(Contains(result.err, "\033")) << result.err;
  EXPECT_FALSE(Contains(result.err, "\u009b")) << result.err;
}

TEST(UsageTest, ValuesAreChecked) {
  const std::vector<std::vector<std::string>> cases = {
      {"--threads", "0.5"},
      {"--threads", "-1"},
      {"--threads", "two"},
      {"--threads", ""},
      {"--draft-length", "9"},
      {"--task", "poem"},
      {"--format", "txt,docx"},
      {"--format", "txt,txt"},
      {"--format", ""},
      {"--pages", "5-1"},
      {"--dpi", "1e9"},
      {"--slots", "0"},
      {"--slots", "3", "--slots", "4"},
      {"--repetition-penalty", "nan"},
      {"--precision", "int3"},
      {"--log-level", "loud"},
      {"--draft"},
      {"--slots"},
  };
  for (std::vector<std::string> words : cases) {
    const std::string name = words[0] + (words.size() > 1 ? " " + words[1] : "");
    words.insert(words.begin(), {"ocr", "x.png", "-o", "/tmp/platen-unused"});
    const ProgramResult result = RunProgram(words);
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_TRUE(Contains(result.err, words[4].substr(2, 5))) << name << ": " << result.err;
  }
  EXPECT_FALSE(std::filesystem::exists("/tmp/platen-unused"));
}

TEST(UsageTest, WhichLogitsForwardDumpsIsChecked) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--logits", "first"}, "--logits: \"first\" is not one of last, all"},
      {{"--logits", "all"}, "--logits: all needs --dump DIR"},
      {{"--answer-ids", "1,2"}, "--answer-ids: needs --logits all"},
      {{"--answer-ids", "1,x"}, "--answer-ids: place 2 is not a token id"},
      {{"--answer-ids", "1,2,"}, "--answer-ids: place 2 is not a token id"},
      {{"--answer-ids", "99999999999"}, "--answer-ids: place 1 is not a token id"},
  };
  for (auto [words, message] : cases) {
    words.insert(words.begin(), "forward");
    const ProgramResult result = RunProgram(words);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_TRUE(Contains(result.err, message)) << result.err;
  }
}

TEST(UsageTest, ForwardDumpsTheLogitsOfAllPositions) {
  const TempFolder folder;
  const ProgramResult result = RunProgram(
      {"forward", SourcePath("assets/platen-mini"), "--precision", "f32", "--packed", "never",
       "--synthetic", "1", "--synthetic-size", "56x28", "--max-new-tokens", "1", "--ignore-stop",
       "--dump", folder / "dump", "--logits", "all", "--answer-ids", "40,41,42"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto length = testing::ReadNpy(folder / "dump/input_ids.npy").shape.at(0);
  const std::vector<int64_t> shape = {length + 3, 320};
  EXPECT_EQ(testing::ReadNpy(folder / "dump/logits.npy").shape, shape);
  EXPECT_TRUE(Contains(result.out, "logits          [" + std::to_string(length + 3) + ", 320]\n"))
      << result.out;
  EXPECT_TRUE(Contains(RunProgram({"forward", "--help"}).out, "--logits"));
}

TEST(UsageTest, OutputAndInputAreRequired) {
  EXPECT_EQ(RunProgram({"ocr", "x.png"}).exit_code, 2);
  EXPECT_EQ(RunProgram({"ocr", "-o", "/tmp/platen-unused"}).exit_code, 2);
}

class ConfigTest : public ::testing::Test {
 protected:
  // A run over a blank page.
  ProgramResult RunWith(std::vector<std::string> words, std::vector<std::string> environment = {}) {
    folder_.Write("in/blank.pgm", "P5 60 40 255\n" + std::string(60 * 40, '\xFF'));
    words.insert(words.begin(), {"ocr", folder_ / "in", "-o", folder_ / "out"});
    return RunProgram(ProgramRun{std::move(words), "", std::move(environment)});
  }
  nlohmann::json Configuration() {
    return nlohmann::json::parse(ReadFile(folder_ / "out/run.json"))["configuration"];
  }
  TempFolder folder_;
};

TEST_F(ConfigTest, EveryExampleConfigurationLoads) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("configs"))) {
    const ProgramResult result = RunWith({"--config", entry.path().string()});
    EXPECT_EQ(result.exit_code, 0) << entry.path() << result.err;
    ++found;
  }
  EXPECT_GE(found, 3);
}

TEST_F(ConfigTest, TheDefaultConfigurationHoldsTheDefaults) {
  RunWith({});
  const auto defaults = Configuration();
  RunWith({"--config", SourcePath("configs/default.json")});
  const auto configured = Configuration();
  int from_config = 0;
  for (const auto& [key, entry] : configured.items()) {
    if (entry["from"] != "config") continue;
    ++from_config;
    EXPECT_EQ(entry["value"], defaults[key]["value"]) << key;
  }
  EXPECT_GE(from_config, 20);
}

TEST_F(ConfigTest, TheCommandLineWinsOverTheEnvironmentOverTheFile) {
  const std::string mini = SourcePath("assets/platen-mini");
  const std::string config = folder_.Write("c.json", R"({"model": "/nowhere", "slots": 3})");
  EXPECT_EQ(RunWith({"--config", config}).exit_code, 3);
  EXPECT_EQ(RunWith({"--config", config}, {"PLATEN_MODEL=" + mini}).exit_code, 0);
  EXPECT_EQ(Configuration()["model"]["from"], "environment");
  EXPECT_EQ(Configuration()["slots"]["value"], "3");
  const ProgramResult result =
      RunWith({"--config", config, "--model", mini, "--slots", "5"}, {"PLATEN_MODEL=/nowhere"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Configuration()["slots"]["value"], "5");
}

TEST_F(ConfigTest, FaultsNameFileKeyAndReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"thread": 3})", "thread: unknown key; did you mean threads?"},
      {R"({"f32_gemm": "own"})", "f32_gemm: is not needed: platen always multiplies with its own"},
      {R"({"threads": "many"})", "threads: \"many\" is not a whole number"},
      {R"({"slots": 2, "slots": 3})", "slots: given twice"},
      {R"({"slots": {"n": 2}})", "slots: must be"},
      {R"({"slots": null})", "slots: must be"},
      {R"({"slots": 2)", "c.json, line 1, column 12: not JSON: "},
      {R"({"slots": 2} x)", "c.json, line 1, column 14: not JSON: "},
      {"{\n \"slots\": 2,\n}", "c.json, line 3, column 1: not JSON: a comma before }"},
      {R"([1])", "not a JSON object"},
      {R"({"config": "x"})", "config: cannot be set in a file; give it on the command line"},
      {"", "not JSON"},
  };
  for (const auto& [text, message] : cases) {
    const std::string config = folder_.Write("c.json", text);
    const ProgramResult result = RunWith({"--config", config});
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_TRUE(Contains(result.err, message)) << text << ": " << result.err;
    EXPECT_TRUE(Contains(result.err, "c.json")) << result.err;
  }
  EXPECT_EQ(RunWith({"--config", folder_ / "missing.json"}).exit_code, 2);
}

TEST(InspectTest, TheBundledModelIsUsable) {
  const ProgramResult result = RunProgram({"inspect"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(RunProgram({"inspect", "--json"}).out).is_object(), true);
  EXPECT_EQ(RunProgram({"inspect", "/nowhere"}).exit_code, 3);
}

TEST(InspectTest, DraftHeadsAreScannedOnAText) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "the quick brown fox jumps over " + std::to_string(i) + "\n";
  folder.Write("text.txt", text);
  const std::string model = SourcePath("tests/golden/minillm/mini-hybrid");
  const ProgramResult result = RunProgram({"inspect", model, "--drafts", folder / "text.txt"});
  EXPECT_EQ(result.exit_code, 1) << "random heads guess nothing";
  EXPECT_TRUE(Contains(result.out, "head 2  right about token +1 ")) << result.out;
  EXPECT_TRUE(Contains(result.out, "asked for +3")) << result.out;
  const ProgramResult none = RunProgram({"inspect", "--drafts", folder / "text.txt"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(Contains(none.err, "has no draft heads")) << none.err;
  EXPECT_EQ(RunProgram({"inspect", model, "--json", "--drafts", "x"}).exit_code, 2);
}

TEST(DoctorTest, NamesWhatWillBeUsed) {
  const ProgramResult result = RunProgram({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* row : {"cpu", "kernels", "threads", "memory", "oneTBB", "qpdf", "model",
                          "int8 peak", "f32 peak", "memory read", "A4 pages an hour"}) {
    EXPECT_TRUE(Contains(result.out, row)) << row;
  }
  EXPECT_EQ(RunProgram({"doctor", "--model", "/nowhere"}).exit_code, 3);
}

}  // namespace
}  // namespace platen
