// The flow graph with a fake recogniser: order, bounds, failures, and the same bytes however the
// work is scheduled.
#include "pipeline/graph.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>

#include "model/support/error.h"
#include "tests/support/fake_pages.h"

namespace platen {
namespace {

using testing::FakeRecognizer;
using testing::FakeRun;
using testing::Outputs;
using testing::ReadFile;
using testing::TempFolder;

void WriteDocuments(const TempFolder& folder) {
  const std::vector<std::string> kinds = {"p", "ppp", "b", "pbp", "f", "pfp", "!", "l",
                                          "P", "ppPpp", "ppppppppp", "bb", "p"};
  for (size_t i = 0; i < kinds.size(); ++i) {
    folder.Write("in/d" + std::to_string(i) + ".tif", kinds[i]);
  }
}

// threads, slots, cache blocks, seed
using Schedule = std::tuple<int, int, int, uint64_t>;

std::map<std::string, std::string> OutputsUnder(const Schedule& schedule) {
  const TempFolder folder;
  WriteDocuments(folder);
  FakeRun run(folder);
  std::tie(run.options.threads, run.options.slots, run.fake.cache_blocks, run.fake.seed) = schedule;
  run.fake.max_delay_us = 300;
  const RunReport report = run.Go();
  EXPECT_EQ(report.totals.documents_done, 13);
  EXPECT_EQ(report.totals.pages_done, 32);
  EXPECT_EQ(report.totals.pages_failed, 6);
  return Outputs(folder / "out");
}

TEST(GraphTest, EveryScheduleGivesTheSameBytes) {
  const auto expected = OutputsUnder({1, 1, 1000, 1});
  EXPECT_EQ(expected.size(), 26U);
  EXPECT_EQ(expected.at("in/d0.tif.txt"), "text 0\ntext 1\n");
  EXPECT_EQ(expected.at("in/d5.tif.txt"), "text 0\ntext 1\n\f\ftext 20\ntext 21\n\ntext 22\ntext 23\n");
  for (const Schedule& schedule : {Schedule{1, 8, 9, 2}, Schedule{1, 2, 1000, 3},
                                   Schedule{2, 1, 20, 4}, Schedule{2, 2, 9, 5},
                                   Schedule{2, 8, 1000, 6}, Schedule{3, 1, 1000, 7},
                                   Schedule{3, 8, 9, 8}, Schedule{3, 8, 20, 9}}) {
    EXPECT_EQ(OutputsUnder(schedule), expected)
        << std::get<0>(schedule) << " threads, " << std::get<1>(schedule) << " slots, "
        << std::get<2>(schedule) << " blocks";
  }
}

TEST(GraphTest, NoMorePagesThanSlotsAreEverInMemory) {
  for (const int slots : {1, 2, 5}) {
    const TempFolder folder;
    folder.Write("in/a.tif", std::string(60, 'p'));
    FakeRun run(folder);
    run.options.slots = slots;
    run.options.threads = 3;
    run.fake.max_delay_us = 200;
    std::atomic<int64_t> started{0}, written{0}, most{0};
    run.on_read = [&] {
      const int64_t in_memory = started.fetch_add(1) + 1 - written;
      int64_t seen = most;
      while (seen < in_memory && !most.compare_exchange_weak(seen, in_memory)) continue;
    };
    run.observer = [&](const Progress& progress) {
      int64_t seen = written;
      while (seen < progress.pages_done &&
             !written.compare_exchange_weak(seen, progress.pages_done)) continue;
    };
    run.Go();
    EXPECT_EQ(started, 60);
    EXPECT_LE(most, slots);
    EXPECT_GE(most, slots > 1 ? 2 : 1);
  }
}

TEST(GraphTest, AFullCacheMakesPagesWaitAndNothingIsLost) {
  const TempFolder folder;
  folder.Write("in/a.tif", std::string(40, 'p'));
  FakeRun run(folder);
  run.options.slots = 8;
  run.fake.cache_blocks = 9;  // the largest region needs nine
  run.fake.max_delay_us = 100;
  FakeRecognizer recognizer(run.fake);
  const RunReport report = run.Go(recognizer);
  EXPECT_EQ(report.totals.pages_done, 40);
  EXPECT_EQ(report.totals.pages_failed, 0);
  EXPECT_GT(recognizer.refused, 0);
  EXPECT_EQ(recognizer.blocks_used(), 0);
}

TEST(GraphTest, RegionsOfSeveralPagesShareABatchUpToItsBudget) {
  const TempFolder folder;
  folder.Write("in/a.tif", std::string(40, 'p'));
  FakeRun run(folder);
  run.options.slots = 8;
  run.fake.max_delay_us = 500;
  FakeRecognizer recognizer(run.fake);
  run.Go(recognizer);
  EXPECT_EQ(recognizer.max_vision_batch, 3U);  // 300 patches of 100 each
  EXPECT_GT(recognizer.max_live, 4U);          // more than one page has
}

TEST(GraphTest, ARegionThatFailsLeavesTheOthersOfItsPage) {
  const TempFolder folder;
  folder.Write("in/a.tif", "P");
  FakeRun run(folder);
  const RunReport report = run.Go();
  EXPECT_EQ(report.totals.pages_failed, 1);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_NE(report.failures[0].error.find("this crop cannot be prepared"), std::string::npos);
  EXPECT_EQ(ReadFile(folder / "out/in/a.tif.txt"), "text 0\n");
}

TEST(GraphTest, ABatchThatFailsFailsItsRegionsAndTheRunGoesOn) {
  for (const char* kind : {"E", "R"}) {
    const TempFolder folder;
    folder.Write("in/a.tif", std::string("pp") + kind + "pp");
    FakeRun run(folder);
    run.options.slots = 1;  // so that no other page shares the batch
    FakeRecognizer recognizer(run.fake);
    const RunReport report = run.Go(recognizer);
    EXPECT_EQ(report.totals.pages_done, 5) << kind;
    EXPECT_EQ(report.totals.pages_failed, 1) << kind;
    EXPECT_EQ(recognizer.blocks_used(), 0) << kind;
  }
}

TEST(GraphTest, WhatBreaksTheEngineStopsTheRunAndIsThrown) {
  const TempFolder folder;
  folder.Write("in/a.tif", "ppS" + std::string(20, 'p'));
  FakeRun run(folder);
  run.fake.max_delay_us = 100;
  EXPECT_THROW(run.Go(), std::runtime_error);
}

TEST(GraphTest, AnInterruptDrainsThePagesInFlightAndTheNextRunDoesTheRest) {
  const TempFolder folder;
  WriteDocuments(folder);
  FakeRun run(folder);
  run.fake.max_delay_us = 200;
  std::atomic<int64_t> written{0};
  run.observer = [&](const Progress& progress) { written = progress.pages_done; };
  run.interrupted = [&] { return written >= 7; };
  const RunReport first = run.Go();
  EXPECT_TRUE(first.interrupted);
  EXPECT_GE(first.totals.pages_done, 7);
  EXPECT_LT(first.totals.pages_done, 7 + 2 * run.options.slots);

  run.interrupted = [] { return false; };
  const RunReport second = run.Go();
  // Pages that failed are tried again; all others only once.
  EXPECT_LE(first.totals.pages_done + second.totals.pages_done, 32 + 6);
  EXPECT_EQ(Outputs(folder / "out"), OutputsUnder({1, 1, 1000, 1}));
}

TEST(GraphTest, ATraceShowsAllStagesOfEveryPage) {
  const TempFolder folder;
  folder.Write("in/a.tif", "ppp");
  FakeRun run(folder);
  run.options.trace_path = folder / "trace.json";
  run.Go();
  const auto trace = nlohmann::json::parse(ReadFile(folder / "trace.json"));
  std::map<std::string, int> spans;
  for (const auto& event : trace) {
    if (event["ph"] == "X") ++spans[event["cat"].get<std::string>()];
  }
  for (const char* stage : {"decode_image", "layout", "preprocess", "assemble", "write"}) {
    EXPECT_EQ(spans[stage], 3) << stage;
  }
  EXPECT_GE(spans["vision_encode"], 1);
  EXPECT_GE(spans["speculative_decode"], 9);  // the longest region takes nine rounds
}

}  // namespace
}  // namespace platen
