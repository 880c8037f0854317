// --shard: what each form means in each environment.
#include "apps/platen/commands/ocr/shard_option.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/commands/commands.h"
#include "model/support/error.h"

namespace platen {
namespace {

using Variables = std::map<std::string, std::string>;

Shard Parse(const std::string& text, const Variables& variables = {}) {
  const auto settings = ParseCommand(OcrCommand(), {"in", "--shard", text});
  return ShardFrom(*settings, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string Refusal(const std::string& text, const Variables& variables = {}) {
  try {
    Parse(text, variables);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kUsage);
    return e.what();
  }
}

// Of task `id` in an array FIRST-LAST:STEP.
Variables Array(int id, int first, int last, int step = 1) {
  return {{"SLURM_ARRAY_TASK_ID", std::to_string(id)},
          {"SLURM_ARRAY_TASK_MIN", std::to_string(first)},
          {"SLURM_ARRAY_TASK_MAX", std::to_string(last)},
          {"SLURM_ARRAY_TASK_STEP", std::to_string(step)},
          {"SLURM_ARRAY_TASK_COUNT", std::to_string((last - first) / step + 1)}};
}

TEST(ShardOptionTest, PartAndNumberAreGiven) {
  EXPECT_EQ(Parse("1/1"), (Shard{1, 1}));
  EXPECT_EQ(Parse("4/4"), (Shard{4, 4}));
  EXPECT_EQ(Parse("100000/100000"), (Shard{100'000, 100'000}));
  EXPECT_TRUE(
      ShardFrom(*ParseCommand(OcrCommand(), {"in"}), [](const char*) { return nullptr; }).is_all());
  EXPECT_NE(Refusal("").find("needs a value"), std::string::npos);  // "$SHARD" of a script
  for (const char* wrong :
       {"5/4", "0/4", "1/0", "1/100001", "1", "/4", "1/", "-1/4", "1/4/4", "a/4",
        "1/99999999999999999999", " 1/4", "Auto", "auto/", "auto/0", "auto/x"}) {
    EXPECT_NE(Refusal(wrong, Array(1, 1, 4)), "") << wrong;
  }
  EXPECT_NE(Refusal("5/4").find("there is no shard 5 of 4"), std::string::npos);
}

TEST(ShardOptionTest, AnArrayMayBeginAnywhereAndHaveAStep) {
  EXPECT_EQ(Parse("auto", Array(1, 1, 4)), (Shard{1, 4}));
  EXPECT_EQ(Parse("auto", Array(3, 0, 3)), (Shard{4, 4}));
  EXPECT_EQ(Parse("auto", Array(20, 0, 30, 10)), (Shard{3, 4}));
  EXPECT_EQ(Parse("auto", Array(7, 7, 7)), (Shard{1, 1}));
  Variables without_count = Array(6, 5, 8);
  without_count.erase("SLURM_ARRAY_TASK_COUNT");
  EXPECT_EQ(Parse("auto", without_count), (Shard{2, 4}));
}

// 1, 3 and 7: which of three the last one is cannot be seen from it.
TEST(ShardOptionTest, AnArrayWithGapsIsRefused) {
  Variables gaps = Array(7, 1, 7);
  gaps["SLURM_ARRAY_TASK_COUNT"] = "3";
  EXPECT_NE(Refusal("auto", gaps).find("has gaps"), std::string::npos);
  gaps["SLURM_ARRAY_TASK_ID"] = "1";
  EXPECT_NE(Refusal("auto", gaps).find("has gaps"), std::string::npos);
  EXPECT_EQ(Parse("auto/8", gaps), (Shard{1, 8}));
}

TEST(ShardOptionTest, WithTheNumberGivenTheIndexIsTheTask) {
  EXPECT_EQ(Parse("auto/8", Array(3, 3, 7)), (Shard{3, 8}));
  EXPECT_EQ(Parse("auto/4", {{"JOB_COMPLETION_INDEX", "0"}}), (Shard{1, 4}));
  EXPECT_EQ(Parse("auto/4", {{"JOB_COMPLETION_INDEX", "3"}}), (Shard{4, 4}));
  EXPECT_NE(Refusal("auto/4", {{"JOB_COMPLETION_INDEX", "4"}}), "");
  EXPECT_NE(Refusal("auto/4", Array(0, 0, 3)).find("numbered from 1"), std::string::npos);
}

TEST(ShardOptionTest, WhatIsMissingIsNamed) {
  EXPECT_NE(Refusal("auto").find("SLURM_ARRAY_TASK_ID"), std::string::npos);
  EXPECT_NE(Refusal("auto/4").find("JOB_COMPLETION_INDEX"), std::string::npos);
  EXPECT_NE(Refusal("auto", {{"JOB_COMPLETION_INDEX", "0"}}).find("--shard auto/N"),
            std::string::npos);
  Variables broken = Array(1, 1, 4);
  broken["SLURM_ARRAY_TASK_ID"] = "1; rm";
  EXPECT_NE(Refusal("auto", broken).find("is no number"), std::string::npos);
}

}  // namespace
}  // namespace platen
