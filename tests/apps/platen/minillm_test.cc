// MiniLLM through the program: packed weights of experts and heads, and `compare` with a decoder of
// this family behind GLM-OCR's images.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/apps/platen/program.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::ProgramResult;
using testing::RunProgram;
using testing::SourcePath;
using testing::TempFolder;
using Words = std::vector<std::string>;

const std::string kChat = SourcePath("tests/golden/minillm/mini-chat");
const std::string kHybrid = SourcePath("tests/golden/minillm/mini-hybrid");
const std::string kPage = SourcePath("assets/samples/pages/eurotext.tif");
// The only snapshot of this family that was trained; it reads a few words in one typeface.
const std::string kReader = SourcePath("tests/data/minillm-tiny/snapshot");
const std::string kPlainPage = SourcePath("tests/data/minillm-tiny/page.png");

// A copy of a snapshot that may be written to.
class Copied {
 public:
  explicit Copied(const std::string& snapshot) {
    fs::copy(snapshot, path_, fs::copy_options::recursive);
    fs::remove(packed());
  }
  const std::string& path() const { return path_; }
  std::string packed() const { return path_ + "/model.int8.packed"; }

 private:
  const TempFolder folder_;
  const std::string path_ = folder_ / "model";
};

ProgramResult Answer(const Copied& model, const std::string& packed) {
  return RunProgram(Words{"forward", model.path(), "--prompt", "Once upon a time",
                          "--max-new-tokens", "24", "--precision", "int8", "--packed", packed});
}

TEST(MiniLlmProgram, PackedWeightsGiveTheSameText) {
  for (const std::string& snapshot : {kChat, kHybrid}) {
    const Copied model(snapshot);
    const ProgramResult plain = Answer(model, "never");
    ASSERT_EQ(plain.exit_code, 0) << plain.err;
    EXPECT_FALSE(fs::exists(model.packed()));
    const ProgramResult packed = RunProgram(Words{"pack", model.path()});
    ASSERT_EQ(packed.exit_code, 0) << packed.err;
    ASSERT_TRUE(fs::exists(model.packed()));
    const auto written = fs::last_write_time(model.packed());
    const ProgramResult from_file = Answer(model, "always");
    EXPECT_EQ(from_file.exit_code, 0) << from_file.err;
    EXPECT_EQ(from_file.out, plain.out) << snapshot;
    EXPECT_EQ(fs::last_write_time(model.packed()), written) << "was packed once more";
    EXPECT_EQ(RunProgram(Words{"pack", "--verify", model.path()}).exit_code, 0);
  }
}

// What is read on the plain page.
std::string Read(const Words& more) {
  const TempFolder folder;
  Words words{"ocr",      kPlainPage, "-o",       folder / "out", "--model", kReader,
              "--packed", "never",    "--format", "txt",          "-q"};
  words.insert(words.end(), more.begin(), more.end());
  const ProgramResult result = RunProgram(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return testing::ReadFile(folder / "out/page.png.txt");
}

TEST(MiniLlmProgram, ATrainedReaderReadsAPageWithAndWithoutDrafts) {
  const std::string text = Read({"--draft-length", "0"});
  EXPECT_EQ(text, testing::ReadFile(SourcePath("tests/data/minillm-tiny/page.txt")));
  for (const char* drafts : {"1", "2", "3"}) {
    EXPECT_EQ(Read({"--draft-length", drafts, "--draft-policy", "fixed"}), text) << drafts;
  }
}

TEST(MiniLlmProgram, DamageInAnExpertIsFoundAndMended) {
  const Copied model(kChat);
  const std::string text = Answer(model, "always").out;
  {
    std::fstream file(model.packed(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(model.packed()) / 2));
    file.put('\x55').put('\x55').put('\x55').put('\x55');
  }
  const ProgramResult verified = RunProgram(Words{"pack", "--verify", model.path()});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_NE(verified.err.find("warning"), std::string::npos) << verified.err;
  EXPECT_EQ(Answer(model, "always").out, text);
}

// A config of one layer for a checkpoint of two.
TEST(MiniLlmProgram, WhatIsOddAboutASnapshotIsAWarning) {
  const Copied model(kChat);
  Json config = Json::parse(testing::ReadFile(model.path() + "/config.json"));
  config["num_hidden_layers"] = 1;
  std::ofstream(model.path() + "/config.json") << config;
  for (const Words& command :
       {Words{"forward", model.path(), "--prompt", "hi", "--max-new-tokens", "1"},
        Words{"pack", model.path()}}) {
    const ProgramResult result = RunProgram(command);
    EXPECT_NE(result.err.find("warning: " + model.path() + ": 25 tensors are not part"),
              std::string::npos)
        << command.front() << ": " << result.err;
  }
}

TEST(MiniLlmProgram, APromptThatIsTooLongSaysWhatToDo) {
  const ProgramResult result =
      RunProgram(Words{"forward", kChat, "--prompt", std::string(20000, 'a')});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("shorten the prompt"), std::string::npos) << result.err;
}

TEST(MiniLlmProgram, ALineThatAsksNothingSaysWhatIsNeeded) {
  const TempFolder folder;
  const std::string requests = folder.Write("requests.jsonl",
                                            "{\"id\": \"nothing\"}\n"
                                            "{\"prompt\": \"\", \"max_new_tokens\": 2}\n");
  const ProgramResult result = RunProgram(Words{"run", requests, "--model", kChat});
  EXPECT_EQ(result.exit_code, 1);
  const auto end = result.out.find('\n');
  const Json nothing = Json::parse(result.out.substr(0, end));
  EXPECT_EQ(nothing["error"], "prompt: is needed, or messages, where there are no images");
  EXPECT_EQ(Json::parse(result.out.substr(end + 1))["tokens"], 2) << "an empty prompt is one";
}

TEST(MiniLlmProgram, CompareReadsPagesInBothPrecisions) {
  const ProgramResult result =
      RunProgram(Words{"compare", kPage, "--model", kHybrid, "--packed", "never", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["a"]["precision"], "f32");
  EXPECT_EQ(report["b"]["precision"], "int8");
  EXPECT_LT(report["b"]["weight_bytes"], report["a"]["weight_bytes"]);
  const Json& logits = report["summary"]["logits"];
  EXPECT_GT(logits["places"], 0);
  EXPECT_GT(logits["largest_difference"], 0.0);
  // Random weights choose nearly by chance among 131 tokens where int8 is all wrong.
  EXPECT_GT(logits["same_choice"], 0.5 * logits["places"].get<double>());
}

TEST(MiniLlmProgram, CompareFindsAModelEqualToItself) {
  const ProgramResult result =
      RunProgram(Words{"compare", kPage, "--model", kHybrid, "--with", kHybrid, "--packed", "never",
                       "--fail-above", "0", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  const Json logits = Json::parse(result.out)["summary"]["logits"];
  EXPECT_EQ(logits["largest_difference"], 0.0);
  EXPECT_EQ(logits["same_choice"], logits["places"]);
}

}  // namespace
}  // namespace platen
