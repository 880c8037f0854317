// `platen bench` on the bundled model: the rows are there, their numbers fit together, options are
// checked. Speeds are not.
#include <gtest/gtest.h>

#include <filesystem>
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

constexpr double kRelative = 1e-9;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

json RunJson(const std::vector<std::string>& words) {
  const ProgramResult result = RunProgram(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out, nullptr, false);
}

void ExpectEqual(double a, double b, const json& where) {
  EXPECT_NEAR(a, b, kRelative * std::abs(b)) << where;
}

void ExpectSpread(const json& spread, const json& where) {
  EXPECT_GT(spread.at("min").get<double>(), 0) << where;
  EXPECT_LE(spread.at("min"), spread.at("median")) << where;
  EXPECT_LE(spread.at("median"), spread.at("max")) << where;
}

void ExpectPeaks(const json& peaks) {
  for (const char* key : {"int8_gops", "f32_gflops", "dram_gbytes_per_s"}) {
    EXPECT_GT(peaks.at(key).get<double>(), 0) << key;
  }
}

TEST(BenchModelTest, EveryPhaseAndSizeHasARowWhoseNumbersFit) {
  const json report = RunJson({"bench", "model", "--json", "--repetitions", "2", "--threads", "1"});
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report.at("precision"), "int8");
  // Larger images than 256 patches are shrunk by the bundled model.
  const std::vector<std::pair<std::string, int>> expected = {
      {"vision", 256}, {"prefill", 64}, {"prefill", 512}, {"decode", 1},
      {"decode", 4},   {"decode", 8},   {"decode", 16},   {"decode", 32}};
  const json& rows = report.at("rows");
  ASSERT_EQ(rows.size(), expected.size()) << rows.dump(1);
  for (size_t i = 0; i < expected.size(); ++i) {
    const json& row = rows[i];
    EXPECT_EQ(row.at("phase"), expected[i].first);
    EXPECT_EQ(row.at("size"), expected[i].second);
    EXPECT_EQ(row.at("threads"), 1);
    ExpectSpread(row.at("seconds"), row);
    ExpectPeaks(row.at("peaks"));
    const double median = row.at("seconds").at("median");
    ExpectEqual(row.at("per_second"), row.at("size").get<double>() / median, row);
    ExpectEqual(row.at("share"), row.at("limit_seconds").get<double>() / median, row);
    EXPECT_TRUE(row.at("bound") == "compute" || row.at("bound") == "memory");
    if (row.at("phase") == "decode") {
      EXPECT_GT(row.at("context").get<int>(), 128);
      EXPECT_GT(row.at("weights_read").get<int64_t>(), 0);
    }
  }
}

TEST(BenchModelTest, PhasesAndThreadsAreChosen) {
  const json report = RunJson(
      {"bench", "model", "--json", "--repetitions", "1", "--phases", "prefill", "--threads", "2"});
  ASSERT_EQ(report.at("rows").size(), 2U);
  for (const json& row : report.at("rows")) {
    EXPECT_EQ(row.at("phase"), "prefill");
    EXPECT_EQ(row.at("threads"), 2);
  }
}

TEST(BenchPagesTest, TheStagesOfAPageAddUp) {
  const TempFolder folder;
  const ProgramResult result =
      RunProgram(ProgramRun{.words = {"bench", "pages", "--json", "--repetitions", "1", "--pages",
                                      "2", "--trace", folder / "trace.json"},
                            .environment = {"TMPDIR=" + folder.path()}});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  EXPECT_EQ(report.at("image_tokens_a_page"), 2200);
  EXPECT_EQ(report.at("output_tokens_a_page"), 700);
  EXPECT_EQ(report.at("pages_a_run"), 2);
  ExpectPeaks(report.at("peaks"));
  double sum = 0, limit = 0;
  for (const auto& [name, stage] : report.at("stages").items()) {
    sum += stage.at("median").get<double>();
    limit += stage.value("limit", 0.0);
    if (name != "other") {
      EXPECT_GT(stage.at("median").get<double>(), 0) << name;
    }
  }
  const double page = report.at("core_seconds_a_page").at("median");
  EXPECT_NEAR(sum, page, 1e-6);
  ExpectEqual(limit, report.at("limit_core_seconds"), report);
  ExpectEqual(report.at("share"), limit / page, report);
  ExpectEqual(report.at("pages_per_core_hour"), 3600 / page, report);
  EXPECT_GE(report.at("steps_a_page").get<double>(), 34.0 / 2);
  EXPECT_LE(report.at("steps_a_page").get<double>(), 34.0);
  const json trace = json::parse(ReadFile(folder / "trace.json"));
  EXPECT_TRUE(trace.is_array() && trace.size() > 100);
  // Nothing but the trace stays behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(BenchPagesTest, TheTokensFollowTheResolution) {
  const json report =
      RunJson({"bench", "pages", "--json", "--repetitions", "1", "--pages", "1", "--dpi", "100"});
  EXPECT_EQ(report.at("image_tokens_a_page"), 980);
  EXPECT_EQ(report.at("output_tokens_a_page"), 700);
}

TEST(BenchKernelsTest, OnlyTheLayersAndRowsAskedForAreTimed) {
  const json report =
      RunJson({"bench", "kernels", "--json", "--repetitions", "2", "--precision", "int8",
               "--layers", "vision proj,decode step", "--rows", "1,16,256"});
  ASSERT_TRUE(report.is_object());
  struct Expected {
    const char *kernel, *layer;
    int rows, n;
    const char* bound;
  };
  // One row of the projection is left out: its weights fit the cache.
  const std::vector<Expected> expected = {{"int8 gemm", "vision proj", 16, 1024, "compute"},
                                          {"int8 gemm", "vision proj", 256, 1024, "compute"},
                                          {"f32 cache", "decode step", 8, 150, "memory"},
                                          {"bf16 cache", "decode step", 8, 150, "memory"},
                                          {"f32 cache", "decode step", 32, 150, "memory"},
                                          {"bf16 cache", "decode step", 32, 150, "memory"}};
  const json& rows = report.at("rows");
  ASSERT_EQ(rows.size(), expected.size()) << rows.dump(1);
  for (size_t i = 0; i < expected.size(); ++i) {
    const json& row = rows[i];
    EXPECT_EQ(row.at("kernel"), expected[i].kernel) << row;
    EXPECT_EQ(row.at("layer"), expected[i].layer) << row;
    EXPECT_EQ(row.at("rows"), expected[i].rows) << row;
    EXPECT_EQ(row.at("n"), expected[i].n) << row;
    EXPECT_EQ(row.at("bound"), expected[i].bound) << row;
    ExpectEqual(row.at("share"), row.at("gops").get<double>() / row.at("peak_gops").get<double>(),
                row);
    EXPECT_LE(row.at("gops_min"), row.at("gops")) << row;
    EXPECT_LE(row.at("gops"), row.at("gops_max")) << row;
    if (row.contains("undisturbed")) {
      EXPECT_GE(row.at("undisturbed").at("repetitions"), 0) << row;
      EXPECT_LE(row.at("undisturbed").at("repetitions"), 2) << row;
      EXPECT_LE(row.at("undisturbed").at("gops"), row.at("gops_max")) << row;
    }
  }
}

TEST(BenchTest, ALayoutModelIsTimedBesideThePeak) {
  const ProgramResult result = RunProgram({"bench", "layout", "--layout-model",
                                           SourcePath("tests/golden/pp_doclayout/snapshots/tiny-a"),
                                           "--repetitions", "2", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  EXPECT_EQ(report.at("seconds").size(), 2U);
  EXPECT_EQ(report.at("core_seconds").size(), 2U);
  EXPECT_EQ(report.at("threads"), 1);
  EXPECT_GT(report.at("gflop").get<double>(), 0.01);
  EXPECT_LT(report.at("gflop").get<double>(), 1);
}

TEST(BenchTest, WhatCannotBeMeasuredIsSaid) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"bench"}, "say first what to measure: kernels, model, decode, pages or layout"},
      {{"bench", "modle"}, "did you mean model?"},
      {{"bench", "model", "now"}, "takes no arguments"},
      {{"bench", "model", "--phases", "prefil"}, "prefill"},
      {{"bench", "pages", "--dpi", "20"}, "--dpi"},
      {{"bench", "pages", "--pages", "0"}, "--pages"},
      {{"bench", "layout"}, "say which model to time"},
      {{"bench", "kernels", "--repetition", "2"}, "did you mean --repetitions?"},
      {{"bench", "kernels", "--layers", "vision"}, "is not one of text qkv"},
      {{"bench", "kernels", "--rows", "2"}, "is not one of 1, 4, 8"},
      {{"bench", "kernels", "--rows", "1", "--layers", "vision proj"}, "nothing to time"},
  };
  for (const auto& [words, message] : cases) {
    const ProgramResult result = RunProgram(words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(Contains(result.err, message)) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(RunProgram({"bench", "model", "--model", "/nowhere"}).exit_code, 3);
  EXPECT_EQ(RunProgram({"bench", "pages", "--pages", "1", "--repetitions", "1", "--trace",
                        "/nowhere/trace.json"})
                .exit_code,
            3);
}

TEST(BenchTest, EveryKindHasHelp) {
  for (const char* kind : {"kernels", "model", "pages"}) {
    const ProgramResult result = RunProgram({"bench", kind, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(Contains(result.out, std::string("Usage: platen bench ") + kind)) << result.out;
    EXPECT_TRUE(Contains(result.out, "--repetitions")) << result.out;
  }
}

}  // namespace
}  // namespace platen
