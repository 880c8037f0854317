// The flow graph with a fake recogniser: order, bounds, failures, and the same bytes however the
// work is scheduled.
#include "pipeline/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "model/ops/parallel.h"
#include "model/support/error.h"
#include "pipeline/pixel_gate.h"
#include "tests/support/fake_pages.h"

namespace platen {
namespace {

using testing::FakeFault;
using testing::FakeRecognizer;
using testing::FakeRun;
using testing::Outputs;
using testing::ReadFile;
using testing::TempFolder;

void WriteDocuments(const TempFolder& folder) {
  const std::vector<std::string> kinds = {
      "p", "ppp", "b",     "pbp",       "f",  "pfp", "!",
      "l", "P",   "ppPpp", "ppppppppp", "bb", "p",   "ppppb"};  // a blank page overtakes all others
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
  run.identity.names_outputs = true;  // documents of one content are read one by one
  std::tie(run.options.pipeline.threads, run.options.pipeline.slots, run.fake.cache_blocks,
           run.fake.seed) = schedule;
  run.fake.max_delay_us = 300;
  const RunReport report = run.Go();
  EXPECT_EQ(report.totals.documents_read, 8);
  EXPECT_EQ(report.totals.documents_failed, 6);
  EXPECT_EQ(report.totals.pages_read, 31);
  EXPECT_EQ(report.totals.pages_failed, 5);
  return Outputs(folder / "out");
}

// A layout model has memory for one page. Watched: how many pages are laid out at once.
TEST(GraphTest, PagesAreLaidOutInTurnIfTheirDetectorWantsThat) {
  for (const bool in_turn : {true, false}) {
    const TempFolder folder;
    folder.Write("in/a.tif", "pppppppppp");
    FakeRun run(folder);
    run.options.pipeline.threads = 4;
    run.options.pipeline.slots = 8;
    run.layouts_in_turn = in_turn;
    std::atomic<int> now = 0, most = 0;
    run.on_segment = [&] {
      const int here = ++now;
      for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      --now;
    };
    EXPECT_EQ(run.Go().totals.pages_read, 10);
    EXPECT_TRUE(!in_turn || most == 1) << most;
  }
}

TEST(GraphTest, EveryScheduleGivesTheSameBytes) {
  const auto expected = OutputsUnder({1, 1, 1000, 1});
  EXPECT_EQ(expected.size(), 28U);
  EXPECT_EQ(expected.at("in/d0.tif.txt"), "text 0\ntext 1\n");
  EXPECT_EQ(expected.at("in/d5.tif.txt"),
            "text 0\ntext 1\n\f\ftext 20\ntext 21\n\ntext 22\ntext 23\n");
  for (const Schedule& schedule :
       {Schedule{1, 8, 9, 2}, Schedule{1, 2, 1000, 3}, Schedule{2, 1, 20, 4}, Schedule{2, 2, 9, 5},
        Schedule{2, 8, 1000, 6}, Schedule{3, 1, 1000, 7}, Schedule{3, 8, 9, 8},
        Schedule{3, 8, 20, 9}}) {
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
    run.options.pipeline.slots = slots;
    run.options.pipeline.threads = 3;
    run.fake.max_delay_us = 200;
    std::atomic<int64_t> started{0}, written{0}, most{0};
    run.on_read = [&] {
      const int64_t in_memory = started.fetch_add(1) + 1 - written;
      int64_t seen = most;
      while (seen < in_memory && !most.compare_exchange_weak(seen, in_memory)) continue;
    };
    run.observer = [&](const Progress& progress) {
      int64_t seen = written;
      while (seen < progress.pages_handled() &&
             !written.compare_exchange_weak(seen, progress.pages_handled()))
        continue;
    };
    run.Go();
    EXPECT_EQ(started, 60);
    EXPECT_LE(most, slots);
  }
}

TEST(GraphTest, AFullCacheMakesPagesWaitAndNothingIsLost) {
  const TempFolder folder;
  folder.Write("in/a.tif", std::string(40, 'p'));
  FakeRun run(folder);
  run.options.pipeline.slots = 8;
  run.fake.cache_blocks = 9;  // the largest region needs nine
  run.fake.max_delay_us = 100;
  FakeRecognizer recognizer(run.fake);
  const RunReport report = run.Go(recognizer);
  EXPECT_EQ(report.totals.pages_read, 40);
  EXPECT_EQ(report.totals.pages_failed, 0);
  EXPECT_EQ(recognizer.blocks_used(), 0);
}

TEST(GraphTest, TextThatRepeatsItselfIsReadOnceMoreAndSaysSo) {
  for (const int threads : {1, 3}) {
    const TempFolder folder;
    folder.Write("in/a.tif", "pOLp");
    FakeRun run(folder);
    run.options.pipeline.threads = threads;
    run.fake.max_delay_us = 50;
    FakeRecognizer recognizer(run.fake);
    const RunReport report = run.Go(recognizer);
    EXPECT_EQ(report.totals.pages_read, 4);
    EXPECT_EQ(report.totals.regions_failed, 0);
    EXPECT_EQ(report.totals.regions_read_again, 2);
    EXPECT_EQ(recognizer.blocks_used(), 0);
    const std::string json = ReadFile(folder / "out/in/a.tif.json");
    EXPECT_NE(json.find("read at another scale: the text had repeated itself"), std::string::npos);
    EXPECT_NE(json.find("cut: the text repeated itself, also at another scale"), std::string::npos);
    EXPECT_NE(json.find("\"finish\": \"repetition\""), std::string::npos);
    EXPECT_NE(json.find("\"finish\": \"stop\""), std::string::npos);
  }
}

TEST(GraphTest, CropsThatGiveWayComeBackAndChangeNoByte) {
  std::map<std::string, std::string> expected;
  for (const int preempt_every : {0, 1, 2, 5}) {
    for (const int threads : {1, 3}) {
      const TempFolder folder;
      folder.Write("in/a.tif", std::string(30, 'p'));
      folder.Write("in/b.tif", "pbP" + std::string(9, 'p'));
      FakeRun run(folder);
      run.options.pipeline.slots = 6;
      run.options.pipeline.threads = threads;
      run.fake.cache_blocks = 20;
      run.fake.preempt_every = preempt_every;
      run.fake.max_delay_us = 50;
      FakeRecognizer recognizer(run.fake);
      run.Go(recognizer);
      EXPECT_EQ(recognizer.stats().preemptions > 0, preempt_every > 0);
      EXPECT_EQ(recognizer.blocks_used(), 0);
      const auto outputs = Outputs(folder / "out");
      if (expected.empty()) expected = outputs;
      EXPECT_EQ(outputs, expected) << "every " << preempt_every << " rounds, " << threads;
    }
  }
}

// A page of `crops` prepared crops, each 100 patches and 30 prompt rows in the fake; the second
// one has the fault.
void FillPage(PageSlot& page, FakeRecognizer& recognizer, int crops,
              FakeFault fault = FakeFault::kNone) {
  page.job.document = std::make_shared<OpenDocument>();
  page.crops.resize(static_cast<size_t>(crops));
  page.open_crops = page.crops.size();
  for (PageCrop& crop : page.crops) {
    Image pixels(1, 1);
    const bool second = &crop == &page.crops[1];
    pixels.rgb = {7, 3, static_cast<uint8_t>(second ? fault : FakeFault::kNone)};  // three rounds
    crop.page = &page;
    crop.sequence = recognizer.Prepare(pixels, {});
    crop.sequence->crop = &crop;
  }
}

TEST(RecognitionStagesTest, RegionsOfSeveralPagesShareABatchUpToItsBudget) {
  FakeRecognizer recognizer({});
  Telemetry telemetry;
  ProgressCounters counters;
  VisionStage vision(recognizer, telemetry, counters, 300);
  PrefillStage prefill(recognizer, telemetry, counters, 60);
  DecodeStage decode(recognizer, telemetry, counters);
  PageSlot first, second;
  FillPage(first, recognizer, 2);
  FillPage(second, recognizer, 2);

  EXPECT_FALSE(vision.MustTick());
  vision.Add(first);
  EXPECT_TRUE(vision.MustTick());
  vision.Add(second);
  EXPECT_FALSE(vision.MustTick());  // one tick is under way
  std::vector<PageCrop*> encoded = vision.OnTick();
  EXPECT_EQ(encoded.size(), 3U);
  EXPECT_TRUE(vision.MustTick());
  encoded.push_back(vision.OnTick().at(0));
  EXPECT_FALSE(vision.MustTick());

  for (PageCrop* region : encoded) prefill.Add(*region);
  for (int batch = 0; batch < 2; ++batch) {
    EXPECT_TRUE(prefill.MustTick());
    const std::vector<PageCrop*> ready = prefill.OnTick();
    EXPECT_EQ(ready.size(), 2U);
    for (PageCrop* region : ready) EXPECT_EQ(decode.Add(*region), nullptr);
  }
  EXPECT_FALSE(prefill.MustTick());

  EXPECT_TRUE(decode.MustTick());
  EXPECT_TRUE(decode.OnTick().finished_pages.empty());
  EXPECT_TRUE(decode.OnTick().finished_pages.empty());
  EXPECT_EQ(decode.OnTick().finished_pages, (std::vector<PageSlot*>{&first, &second}));
  EXPECT_FALSE(decode.MustTick());
  EXPECT_EQ(recognizer.max_live, 4U);
}

// The text of its first try would be there or not as the clock will.
TEST(RecognitionStagesTest, ARegionWhosePageHasHadItsTimeFailsThoughItHasBeenReadOnce) {
  FakeRecognizer recognizer({});
  Telemetry telemetry;
  ProgressCounters counters;
  DecodeStage decode(recognizer, telemetry, counters);
  for (const double page_s : {0.0, 1e-9}) {
    PageSlot page;
    FillPage(page, recognizer, 2);
    page.open_crops = 1;
    page.job.document->limits.page_s = page_s;
    PageCrop& crop = page.crops[0];
    crop.first_try.emplace();
    crop.error = {"too late, or broken", FailureCode::kTimeout};
    EXPECT_EQ(decode.Add(crop), &page);
    EXPECT_EQ(crop.error.empty(), page_s == 0);
  }
}

TEST(RecognitionStagesTest, ARegionLargerThanEveryBudgetGoesAlone) {
  FakeRecognizer recognizer({});
  Telemetry telemetry;
  ProgressCounters counters;
  VisionStage vision(recognizer, telemetry, counters, 1);
  PrefillStage prefill(recognizer, telemetry, counters, 1);
  PageSlot page;
  FillPage(page, recognizer, 3);
  vision.Add(page);
  for (int i = 0; i < 3; ++i) {
    const std::vector<PageCrop*> encoded = vision.OnTick();
    ASSERT_EQ(encoded.size(), 1U);
    prefill.Add(*encoded[0]);
    EXPECT_EQ(prefill.OnTick().size(), 1U);
  }
}

TEST(RecognitionStagesTest, AFullCacheStopsPrefillUntilBlocksAreFreed) {
  FakeRecognizer recognizer({.cache_blocks = 5});  // each region takes four
  Telemetry telemetry;
  ProgressCounters counters;
  VisionStage vision(recognizer, telemetry, counters, 1000);
  PrefillStage prefill(recognizer, telemetry, counters, 1000);
  PageSlot page;
  FillPage(page, recognizer, 2);
  vision.Add(page);
  for (PageCrop* region : vision.OnTick()) prefill.Add(*region);
  EXPECT_TRUE(prefill.MustTick());
  const std::vector<PageCrop*> ready = prefill.OnTick();
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_FALSE(prefill.MustTick());  // full: it waits without ticking
  ready[0]->sequence.reset();
  prefill.OnBlocksFreed();
  EXPECT_TRUE(prefill.MustTick());
  EXPECT_EQ(prefill.OnTick().size(), 1U);
}

TEST(RecognitionStagesTest, ACropThatGaveWayGoesBeforeNewOnes) {
  FakeRecognizer recognizer({.preempt_every = 1});
  Telemetry telemetry;
  ProgressCounters counters;
  VisionStage vision(recognizer, telemetry, counters, 1000);
  PrefillStage prefill(recognizer, telemetry, counters, 60);  // two crops
  DecodeStage decode(recognizer, telemetry, counters);
  PageSlot page;
  FillPage(page, recognizer, 4);
  vision.Add(page);
  for (PageCrop* crop : vision.OnTick()) prefill.Add(*crop);
  for (PageCrop* crop : prefill.OnTick()) decode.Add(*crop);
  const DecodeStage::Round round = decode.OnTick();
  ASSERT_EQ(round.preempted, (std::vector<PageCrop*>{&page.crops[1]}));
  ASSERT_NE(page.crops[1].sequence, nullptr);
  prefill.AddPreempted(*round.preempted.front());
  EXPECT_EQ(prefill.OnTick(), (std::vector<PageCrop*>{&page.crops[1], &page.crops[2]}));
  EXPECT_EQ(page.open_crops, 4U);
}

TEST(GraphTest, WhatIsAskedOfTheRunIsAskedOfEveryDocument) {
  const TempFolder folder;
  folder.Write("in/a.tif", "p");
  FakeRun run(folder);
  run.options.pipeline.reading.prompts = {{"table", "Table:"}};
  run.options.source.read.task = "table";
  run.Go();
  EXPECT_NE(Outputs(folder / "out").at("in/a.tif.json").find("\"label\": \"table\""),
            std::string::npos);
}

TEST(GraphTest, ARegionThatFailsLeavesTheOthersOfItsPage) {
  const TempFolder folder;
  folder.Write("in/a.tif", "P");
  FakeRun run(folder);
  const RunReport report = run.Go();
  EXPECT_EQ(report.totals.pages_failed, 1);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_NE(report.failures[0].error.text.find("this crop cannot be prepared"), std::string::npos);
  EXPECT_EQ(ReadFile(folder / "out/in/a.tif.txt"), "text 0\n");
}

TEST(GraphTest, ABadRegionCostsItsBatchNothing) {
  for (const char* kind : {"E", "R"}) {
    const TempFolder folder;
    folder.Write("in/a.tif", std::string("pp") + kind + "pp");
    FakeRun run(folder);
    FakeRecognizer recognizer(run.fake);
    const RunReport report = run.Go(recognizer);
    EXPECT_EQ(report.totals.pages_read, 4) << kind;
    EXPECT_EQ(report.totals.pages_failed, 1) << kind;
    EXPECT_EQ(report.totals.regions_failed, 1) << kind;
    EXPECT_EQ(recognizer.blocks_used(), 0) << kind;
    // Page 3 has regions 20 to 23, of which 21 is bad.
    const std::string text = ReadFile(folder / "out/in/a.tif.txt");
    for (const char* line : {"text 20\n", "text 22\n", "text 23\n", "text 30\n"}) {
      EXPECT_NE(text.find(line), std::string::npos) << kind << line;
    }
    EXPECT_EQ(text.find("text 21"), std::string::npos) << kind;
  }
}

TEST(GraphTest, WhetherABatchWasRetriedChangesNoByte) {
  std::map<std::string, std::string> expected;
  for (const int budget : {1, 100000}) {  // each region alone, or with its neighbours
    const TempFolder folder;
    folder.Write("in/a.tif", "pEpRp");
    FakeRun run(folder);
    run.options.pipeline.patch_budget = run.options.pipeline.row_budget = budget;
    EXPECT_EQ(run.Go().totals.regions_retried > 0, budget > 1);
    const auto outputs = Outputs(folder / "out");
    if (budget == 1) expected = outputs;
    EXPECT_EQ(outputs, expected);
  }
}

TEST(RecognitionStagesTest, ABatchIsRetriedRegionByRegionUnlessTheMachineFailed) {
  for (const FakeFault fault : {FakeFault::kEncode, FakeFault::kPrefill, FakeFault::kMachine}) {
    FakeRecognizer recognizer({});
    Telemetry telemetry;
    ProgressCounters counters;
    VisionStage vision(recognizer, telemetry, counters, 1000);
    PrefillStage prefill(recognizer, telemetry, counters, 1000);
    PageSlot page;
    FillPage(page, recognizer, 3, fault);
    vision.Add(page);
    for (PageCrop* region : vision.OnTick()) prefill.Add(*region);
    std::vector<std::string> errors;
    for (const PageCrop* region : prefill.OnTick()) errors.push_back(region->error.text);
    const auto failed =
        errors.size() - static_cast<size_t>(std::count(errors.begin(), errors.end(), ""));
    ASSERT_EQ(errors.size(), 3U);
    EXPECT_EQ(failed, fault == FakeFault::kMachine ? 3U : 1U);
    EXPECT_EQ(counters.Snapshot().regions_retried, fault == FakeFault::kMachine ? 0 : 3);
    EXPECT_EQ(page.crops[1].sequence, nullptr);
  }
}

TEST(GraphTest, ADocumentWhoseOutputsCannotBeNamedFailsByItself) {
  const TempFolder folder;
  folder.Write("in/" + std::string(247, 'n') + ".tif",
               "p");  // with .json longer than a name may be
  folder.Write("in/o.tif", "p");
  FakeRun run(folder);
  const RunReport report = run.Go();
  EXPECT_EQ(report.totals.documents_read, 1);
  EXPECT_EQ(report.totals.documents_failed, 1);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_NE(report.failures[0].error.text.find("File name too long"), std::string::npos);
  EXPECT_EQ(ReadFile(folder / "out/in/o.tif.txt"), "text 0\ntext 1\n");
}

TEST(GraphTest, WhatBreaksTheEngineStopsTheRunAndIsThrown) {
  const TempFolder folder;
  folder.Write("in/a.tif", "pp");
  folder.Write("in/b.tif", "ppS" + std::string(20, 'p'));
  FakeRun run(folder);
  run.fake.max_delay_us = 100;
  run.options.source.force = true;
  for (const auto& [threads, slots] : {std::pair(3, 8), {2, 3}, {1, 8}, {1, 1}}) {
    run.options.pipeline.threads = threads;
    run.options.pipeline.slots = slots;  // with one, a.tif is finished before b.tif breaks
    FakeRecognizer recognizer(run.fake);
    EXPECT_THROW(run.Go(recognizer), std::runtime_error);
    EXPECT_EQ(recognizer.live(), 0U);  // nothing leaks, nothing dangles
    EXPECT_EQ(recognizer.blocks_used(), 0);
  }
  run.options.source.force = false;
  folder.Write("in/b.tif", "ppp");
  const RunReport again = run.Go();
  EXPECT_EQ(again.totals.documents_skipped, 1);  // a finished document stays finished
  EXPECT_EQ(again.totals.documents_read, 1);
}

// A disk that refuses, at any moment, must end the run with its error: never with garbage out of a
// loop that was cut off elsewhere.
TEST(GraphTest, WhatBreaksTheSinkStopsTheRunAndIsThrown) {
  for (int at = 1; at <= 30; at += 3) {
    const TempFolder folder;
    for (const char* name : {"in/a.tif", "in/b.tif", "in/c.tif"}) folder.Write(name, "pppppppppp");
    FakeRun run(folder);
    run.identity.names_outputs = true;
    run.options.pipeline.threads = 3;
    run.options.pipeline.slots = 8;
    run.fake.max_delay_us = 100;
    int pages = 0;
    run.sink_observers.page = [&](const InputDocument&, const PageResult&, int) {
      if (++pages == at) throw Error(ErrorKind::kEnvironment, {"out", ""}, "the disk is full");
    };
    FakeRecognizer recognizer(run.fake);
    EXPECT_THROW(run.Go(recognizer), Error);
    EXPECT_EQ(pages, at);  // nothing is written after it
    EXPECT_EQ(recognizer.blocks_used(), 0);
    run.sink_observers = {};
    EXPECT_EQ(run.Go().totals.documents_failed, 0);
    EXPECT_EQ(ReadFile(folder / "out/in/c.tif.txt"), ReadFile(folder / "out/in/a.tif.txt"));
  }
}

TEST(GraphTest, ParallelLoopsOfAStageAreWholeWhenAnotherStageFails) {
  const TempFolder folder;
  folder.Write("in/a.tif", std::string(40, 'p'));
  FakeRun run(folder);
  run.options.pipeline.threads = 3;
  run.options.pipeline.slots = 8;
  std::atomic<int64_t> loops{0}, whole{0};
  run.on_read = [&] {
    std::atomic<int64_t> bodies{0};
    ++loops;
    ParallelFor(200, [&](int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      ++bodies;
    });
    whole += bodies == 200;
  };
  int pages = 0;
  run.sink_observers.page = [&](const InputDocument&, const PageResult&, int) {
    if (++pages == 5) throw std::runtime_error("broken");
  };
  EXPECT_THROW(run.Go(), std::runtime_error);
  EXPECT_EQ(whole, loops);
}

TEST(GraphTest, AllLostPartsOfAPageAreCounted) {
  const TempFolder folder;
  folder.Write("in/a.tif", "pQP");
  FakeRun run(folder);
  const RunReport report = run.Go();
  EXPECT_EQ(report.totals.pages_read, 1);
  EXPECT_EQ(report.totals.pages_failed, 2);
  ASSERT_EQ(report.failures.size(), 2U);
  EXPECT_EQ(report.failures[0].error.text.find("3 of 3 lines could not be read: "), 0U)
      << report.failures[0].error.text;
  EXPECT_EQ(report.failures[1].error.text.find("1 of 4 lines could not be read: "), 0U)
      << report.failures[1].error.text;
  EXPECT_EQ(report.failures[0].of_pages, 3);
}

PageSlot PageOf(int64_t pixels) {
  PageSlot page;
  page.pixels = pixels;
  return page;
}

TEST(PixelGateTest, PagesComeInOrderWhileThereIsRoom) {
  PixelGate gate(100);
  PageSlot a = PageOf(60), b = PageOf(50), c = PageOf(10), d = PageOf(500), e = PageOf(0);
  using Pages = std::vector<PageSlot*>;
  for (PageSlot* page : {&a, &b, &c, &d, &e}) gate.Add(*page);
  EXPECT_EQ(gate.Admit(), Pages{&a});  // c would fit, and would overtake b
  EXPECT_EQ(gate.Admit(), Pages{});
  gate.GiveBack(60);
  EXPECT_EQ(gate.Admit(), (Pages{&b, &c}));
  gate.GiveBack(50);
  EXPECT_EQ(gate.Admit(), Pages{});
  gate.GiveBack(10);
  EXPECT_EQ(gate.Admit(), Pages{&d});  // larger than all there is: alone
  gate.GiveBack(500);
  EXPECT_EQ(gate.Admit(), Pages{&e});
}

TEST(GraphTest, DecodedPagesStayWithinTheirPixels) {
  const TempFolder folder;
  folder.Write("in/a.tif", std::string(60, 'p'));  // two pixels each
  for (const int64_t pixels : {1, 2, 5}) {
    FakeRun run(folder);
    run.output_dir = folder / ("out" + std::to_string(pixels));
    run.options.pipeline.threads = 4;
    run.options.pipeline.slots = 8;
    run.options.pipeline.pixels = pixels;
    std::atomic<int> inside{0}, most{0};
    run.on_read = [&] {
      const int now = ++inside;
      int seen = most;
      while (seen < now && !most.compare_exchange_weak(seen, now)) continue;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    };
    run.on_crop = [&] { --inside; };
    EXPECT_EQ(run.Go().totals.pages_read, 60);
    EXPECT_LE(most, std::max<int64_t>(1, pixels / 2));
  }
}

TEST(GraphTest, AnInterruptDrainsThePagesInFlightAndTheNextRunDoesTheRest) {
  const TempFolder folder;
  WriteDocuments(folder);
  FakeRun run(folder);
  run.fake.max_delay_us = 200;
  std::atomic<int64_t> written{0};
  run.observer = [&](const Progress& progress) { written = progress.pages_handled(); };
  run.interrupted = [&] { return written >= 7; };
  const RunReport first = run.Go();
  EXPECT_TRUE(first.interrupted);
  EXPECT_GE(first.totals.pages_handled(), 7);
  EXPECT_LE(first.totals.pages_handled(), 7 + 2 * run.options.pipeline.slots);
  EXPECT_GT(first.totals.documents_not_read(), 0);

  run.interrupted = [] { return false; };
  const RunReport second = run.Go();
  // Pages that failed are tried again; all others only once.
  EXPECT_LE(first.totals.pages_handled() + second.totals.pages_handled(), 36 + 5);
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
