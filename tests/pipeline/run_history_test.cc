#include "pipeline/run_history.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::ReadFile;
using testing::TempFolder;

class RunHistoryTest : public ::testing::Test {
 protected:
  void AddRun(const std::string& started, int64_t number, const std::string& json) {
    RunHistory(state_, state_, started, number).Finish(json);
  }
  std::vector<std::string> Jsons(size_t most = 100) {
    std::vector<std::string> jsons;
    for (const PastRun& run : PastRuns(state_, most))
      jsons.push_back(run.json.substr(0, run.json.find('\n')));
    return jsons;
  }

  const TempFolder folder_;
  const Folder state_ = Folder::Open(folder_.path(), Folder::Missing::kFail);
};

TEST_F(RunHistoryTest, TheLatestRunIsTheOneWithTheLargestNumberWhateverTheClockSays) {
  EXPECT_TRUE(Jsons().empty());
  AddRun("2026-01-02T00:00:00Z", 9, "nine");
  AddRun("2025-01-01T00:00:00Z", 10, "ten");  // the clock was set back
  AddRun("2026-01-01T00:00:00Z", 2, "two");
  EXPECT_EQ(Jsons(), (std::vector<std::string>{"ten", "nine", "two"}));
  EXPECT_EQ(Jsons(1), std::vector<std::string>{"ten"});
  EXPECT_EQ(PastRuns(state_, 1)[0].name, "2025-01-01T00-00-00Z-10");
  EXPECT_EQ(PastRuns(state_, 1)[0].number, 10);
}

TEST_F(RunHistoryTest, DocumentsAreThereBeforeTheRunEnds) {
  InputDocument input;
  input.path = "in/a.tif";
  input.output = "a.tif";
  RunHistory history(state_, state_, "2026-01-01T00:00:00Z", 1);
  history.AddDocument({input, {1, 2, 3}, 1, {}, false}, 12.34);
  history.AddDocument({input, {}, 1, {}, true}, 13);
  const std::string text = ReadFile(folder_ / "runs/2026-01-01T00-00-00Z-1.documents.jsonl");
  const auto line = nlohmann::json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(line, (nlohmann::json{{"input", "in/a.tif"},
                                  {"output", "a.tif"},
                                  {"state", "failed"},
                                  {"pages", 3},
                                  {"failed", 1},
                                  {"at_s", 12.3}}));
  EXPECT_NE(text.find("\"kept\""), std::string::npos);
  EXPECT_TRUE(Jsons().empty()) << "the run has not ended";
}

TEST_F(RunHistoryTest, WhatIsNoRunIsLeftOut) {
  AddRun("2026-01-01T00:00:00Z", 1, "one");
  for (const char* name : {"x.run.jsonl", "-.run.jsonl", "a-1x.run.jsonl",
                           "a-99999999999999999999.run.jsonl", "b-3", "a-7.json"}) {
    folder_.Write("runs/" + std::string(name), "hostile");
  }
  std::filesystem::create_directory(folder_ / "runs/a-4.run.jsonl");
  ::symlink("/etc/passwd", (folder_ / "runs/a-5.run.jsonl").c_str());
  EXPECT_EQ(Jsons(), std::vector<std::string>{"one"});
}

TEST_F(RunHistoryTest, NothingIsWrittenThroughALink) {
  const TempFolder elsewhere;
  ::symlink(elsewhere.path().c_str(), (folder_ / "runs").c_str());
  EXPECT_THROW(AddRun("2026-01-01T00:00:00Z", 1, "one"), Error);
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

}  // namespace
}  // namespace platen
