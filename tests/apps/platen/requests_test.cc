// platen run: answers in the order of the requests, faults in their places, a run that goes on.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/apps/platen/program.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using nlohmann::json;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;
using testing::TempFolder;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<json> Lines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

class RequestsTest : public ::testing::Test {
 protected:
  RequestsTest() {
    const std::string line = SourcePath("tests/data/lines/letter.png");
    std::filesystem::copy_file(line, folder_ / "letter.png");
    std::string text;
    text += R"({"id": "page", "images": ["letter.png"], "max_new_tokens": 30})"
            "\n";
    text += "\n";
    text += R"({"id": "gone", "images": ["gone.png"]})"
            "\n";
    text += R"({"id": "drawn", "prompt": "hello", "max_new_tokens": 20, "temperature": 1})"
            "\n";
    text += "{\"id\": \"broken\n";
    text += R"({"id": "misspelt", "promt": "x", "max_new_tokens": 2})"
            "\n";
    text +=
        R"({"prompt": "again", "max_new_tokens": 9, "temperature": 1, "seed": 2, "draft_length": 0})"
        "\n";
    text +=
        R"({"id": "last", "images": [{"path": "letter.png", "page": 1}], "task": "text", "max_new_tokens": 12})"
        "\n";
    folder_.Write("in/requests.jsonl", "");
    std::filesystem::rename(folder_ / "letter.png", folder_ / "in/letter.png");
    folder_.Write("in/requests.jsonl", text);
  }

  std::vector<std::string> Words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"run", folder_ / "in/requests.jsonl"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  const TempFolder folder_;
};

TEST_F(RequestsTest, EveryLineGetsItsAnswerInOrder) {
  const ProgramResult result = RunProgram(Words());
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const std::vector<json> answers = Lines(result.out);
  ASSERT_EQ(answers.size(), 7U);
  const std::vector<int> numbers = {1, 3, 4, 5, 6, 7, 8};
  for (size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i].at("line"), numbers[i]);
  EXPECT_EQ(answers[0].at("id"), "page");
  EXPECT_EQ(answers[0].at("finish"), "length");
  EXPECT_EQ(answers[0].at("tokens"), 30);
  EXPECT_GT(answers[0].at("image_tokens"), 0);
  EXPECT_EQ(answers[1].at("error"), "gone.png: cannot open: No such file or directory");
  EXPECT_FALSE(answers[2].contains("error"));
  EXPECT_TRUE(Contains(answers[3].at("error"), "not valid JSON"));
  EXPECT_TRUE(Contains(answers[4].at("error"), "did you mean \"prompt\"?"));
  EXPECT_EQ(answers[4].at("id"), "misspelt");
  EXPECT_FALSE(answers[5].contains("id"));
  EXPECT_EQ(answers[6].at("tokens"), 12);
  for (const char* line :
       {"requests.jsonl:3: gone.png", "requests.jsonl:5: ", "requests.jsonl:6: "}) {
    EXPECT_TRUE(Contains(result.err, line)) << result.err;
  }
}

TEST_F(RequestsTest, ConversationsAreForModelsThatKnowThem) {
  folder_.Write(
      "in/requests.jsonl",
      R"({"messages": [{"role": "user", "content": "hi"}], "max_new_tokens": 6})"
      "\n"
      R"({"prompt": "hi", "max_new_tokens": 6})"
      "\n"
      R"({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}], "max_new_tokens": 6})"
      "\n"
      R"({"messages": [{"role": "robot", "content": "hi"}], "max_new_tokens": 6})"
      "\n"
      R"({"messages": [{"role": "user", "content": "hi"}], "prompt": "hi", "max_new_tokens": 6})"
      "\n");
  const std::string chat = testing::SourcePath("tests/golden/minillm/mini-chat");
  const std::vector<json> answers = Lines(RunProgram(Words({"--model", chat})).out);
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(answers[0].at("text"), answers[1].at("text"));
  EXPECT_EQ(answers[0].at("prompt_tokens"), 48);
  EXPECT_EQ(answers[2].at("prompt_tokens"), 35);
  EXPECT_TRUE(Contains(answers[3].at("error"), "must be system, user or assistant"));
  EXPECT_TRUE(Contains(answers[4].at("error"), "stands beside messages"));
  const std::vector<json> refused = Lines(RunProgram(Words()).out);
  EXPECT_TRUE(Contains(refused[0].at("error"), "takes no conversations"));
}

TEST_F(RequestsTest, NeitherDraftsNorMemoryNorThreadsChangeAByte) {
  const std::string expected = RunProgram(Words()).out;
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--draft-length", "0"},
                                             {"--draft-policy", "fixed", "--draft-length", "8"},
                                             {"--drafters", "none"},
                                             {"--kv-cache-mib", "1"},
                                             {"--threads", "1"},
                                             {"--threads", "3"}}) {
    EXPECT_EQ(RunProgram(Words(more)).out, expected) << more.front();
  }
}

TEST_F(RequestsTest, AnInterruptedRunIsGoneOnWith) {
  const std::string out = folder_ / "out.jsonl";
  RunProgram(Words({"-o", out}));
  const std::string whole = ReadFile(out);
  for (size_t bytes = 0; bytes <= whole.size(); bytes += 97) {
    std::ofstream(out, std::ios::binary) << whole.substr(0, bytes);
    const ProgramResult result = RunProgram(Words({"-o", out}));
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_EQ(ReadFile(out), whole) << "cut after " << bytes << " bytes";
  }
}

TEST_F(RequestsTest, AKilledRunIsGoneOnWith) {
  const std::string out = folder_ / "out.jsonl";
  RunProgram(Words({"-o", out}));
  const std::string whole = ReadFile(out);
  std::filesystem::remove(out);
  ProgramRun run{Words({"-o", out})};
  run.meanwhile = [&](int pid) {
    std::error_code error;
    if (std::filesystem::exists(out, error) && std::filesystem::file_size(out, error) > 0) {
      ::kill(pid, SIGKILL);
    }
  };
  RunProgram(run);
  RunProgram(Words({"-o", out}));
  EXPECT_EQ(ReadFile(out), whole);
}

TEST_F(RequestsTest, AnswersToOtherRequestsAreLeftAlone) {
  const std::string out = folder_ / "out.jsonl";
  RunProgram(Words({"-o", out}));
  const std::string whole = ReadFile(out);
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--seed", "1"}, {"--temperature", "0.5"}, {"--precision", "f32"}}) {
    std::vector<std::string> words = Words({"-o", out});
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = RunProgram(words);
    EXPECT_EQ(result.exit_code, 2) << more.front();
    EXPECT_TRUE(Contains(result.err, "answers to other requests")) << result.err;
    EXPECT_EQ(ReadFile(out), whole);
  }
  std::ofstream(out) << "a list of something else\n";
  EXPECT_EQ(RunProgram(Words({"-o", out})).exit_code, 1);
  EXPECT_EQ(ReadFile(out), "a list of something else\n");
  EXPECT_EQ(RunProgram(Words({"-o", out, "--force"})).exit_code, 1);
  EXPECT_EQ(ReadFile(out), whole);
}

TEST_F(RequestsTest, NoLinkIsFollowedWhereAnswersGo) {
  const std::string target = folder_ / "target";
  std::ofstream(target) << "precious";
  std::filesystem::create_symlink(target, folder_ / "link.jsonl");
  EXPECT_NE(RunProgram(Words({"-o", folder_ / "link.jsonl", "--force"})).exit_code, 0);
  EXPECT_EQ(ReadFile(target), "precious");
}

TEST_F(RequestsTest, WhatCannotBeRunIsSaid) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"run"}, "name one file"},
      {{"run", "a", "b"}, "name one file"},
      {{"run", "/nowhere.jsonl"}, "cannot be opened"},
      {{"run", "x.jsonl", "--temprature", "1"}, "did you mean --temperature?"},
      {{"run", "x.jsonl", "--acceptance", "typical"}, "needs a temperature"},
  };
  for (const auto& [words, message] : cases) {
    const ProgramResult result = RunProgram(words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(Contains(result.err, message)) << result.err;
  }
}

TEST_F(RequestsTest, AnEmptyFileOfRequestsIsDoneAtOnce) {
  folder_.Write("in/empty.jsonl", "\n  \n");
  const ProgramResult result = RunProgram({"run", folder_ / "in/empty.jsonl"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST_F(RequestsTest, LossyAnswersSaySo) {
  ProgramRun run{{"run", "-"}};
  run.input = R"({"prompt": "a", "max_new_tokens": 3, "temperature": 1, "acceptance": "typical"})";
  const ProgramResult result = RunProgram(run);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Lines(result.out).front().at("lossless"), false);
}

TEST_F(RequestsTest, MetricsAreAFileOfTheirOwn) {
  const std::string metrics = folder_ / "metrics.jsonl";
  const ProgramResult result = RunProgram(Words({"--metrics", metrics}));
  const std::vector<json> lines = Lines(ReadFile(metrics));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].at("id"), "page");
  EXPECT_GT(lines[0].at("rounds"), 0);
  EXPECT_EQ(lines[2].at("drafted"), 0) << "its line asks for no drafts";
  EXPECT_EQ(result.out, RunProgram(Words()).out);
}

}  // namespace
}  // namespace platen
