#include "pipeline/recognition_stages.h"

#include <tbb/task_arena.h>

#include <string>

#include "model/support/display_text.h"
#include "pipeline/attempt.h"

namespace platen {
namespace {

// Parallel loops inside the recogniser must not make this thread start another graph node while it
// waits for its last tiles: a decode round would then take as long as a whole prefill.
template <typename Work>
void Isolated(Work&& work) {
  tbb::this_task_arena::isolate(std::forward<Work>(work));
}

std::vector<Reading*> ReadingsOf(const std::vector<Region*>& regions) {
  std::vector<Reading*> readings;
  for (const Region* region : regions) readings.push_back(region->reading.get());
  return readings;
}

void Fail(Region& region, const std::string& error) {
  region.error = error;
  region.reading.reset();
}

// `work` on the readings of the batch, and if that fails on one after the other. Regions whose own
// work fails get the error. Returns how many were tried by themselves.
template <typename Work>
int64_t RunBatch(const std::vector<Region*>& batch, const Work& work) {
  bool machine_failed = false;
  const std::string error = Attempt([&] {
    try {
      Isolated([&] { work(ReadingsOf(batch)); });
    } catch (const Error& e) {
      machine_failed = e.kind() == ErrorKind::kEnvironment;
      throw;
    }
  });
  if (error.empty()) return 0;
  if (batch.size() == 1 || machine_failed) {
    for (Region* region : batch) Fail(*region, error);
    return 0;
  }
  for (Region* region : batch) RunBatch({region}, work);
  return static_cast<int64_t>(batch.size());
}

// "a.tif p3 (+1 page)"
std::string BatchLabel(const std::vector<Region*>& regions) {
  if (regions.empty()) return "-";
  const PageSlot* first = regions.front()->page;
  const PageSlot* last = nullptr;
  int pages = 0;
  for (const Region* region : regions) {
    pages += region->page != last ? 1 : 0;
    last = region->page;
  }
  std::string label =
      DisplayName(first->job.document->input.shown_name()) + " p" + std::to_string(first->job.page);
  if (pages > 1) label += " (+" + std::to_string(pages - 1) + ")";
  return label;
}

}  // namespace

void VisionStage::Add(PageSlot& page) {
  for (Region& region : page.regions) waiting_.push_back(&region);
}

std::vector<Region*> VisionStage::OnTick() {
  tick_.Arrived();
  std::vector<Region*> batch, passed_on;
  int patches = 0;
  while (!waiting_.empty()) {
    Region* region = waiting_.front();
    if (!region->error.empty()) {
      passed_on.push_back(region);
    } else {
      if (!batch.empty() && region->reading->patches > patch_budget_ - patches) break;
      patches += region->reading->patches;
      batch.push_back(region);
    }
    waiting_.pop_front();
  }
  if (!batch.empty()) {
    StageSpan span(telemetry_, Stage::kVisionEncode, -1, BatchLabel(batch));
    span.SetDetails("{\"regions\":" + std::to_string(batch.size()) +
                    ",\"patches\":" + std::to_string(patches) + "}");
    const int64_t retried = RunBatch(
        batch, [&](const std::vector<Reading*>& readings) { recognizer_.EncodeImages(readings); });
    counters_.Add(&Progress::regions_retried, retried);
    passed_on.insert(passed_on.end(), batch.begin(), batch.end());
  }
  return passed_on;
}

std::vector<Region*> PrefillStage::TakeBatch(std::vector<Region*>& failed) {
  std::vector<Region*> batch;
  int rows = 0;
  while (!waiting_.empty()) {
    Region* region = waiting_.front();
    if (!region->error.empty()) {
      failed.push_back(region);
    } else {
      if (!batch.empty() && region->reading->prompt_rows > row_budget_ - rows) break;
      if (!recognizer_.TryReserve(*region->reading)) {
        cache_full_ = true;
        break;
      }
      rows += region->reading->prompt_rows;
      batch.push_back(region);
    }
    waiting_.pop_front();
  }
  return batch;
}

std::vector<Region*> PrefillStage::OnTick() {
  tick_.Arrived();
  std::vector<Region*> passed_on;
  const std::vector<Region*> batch = TakeBatch(passed_on);
  if (batch.empty()) return passed_on;
  StageSpan span(telemetry_, Stage::kPrefill, -1, BatchLabel(batch));
  int rows = 0;
  for (const Region* region : batch) rows += region->reading->prompt_rows;
  const int64_t retried = RunBatch(
      batch, [&](const std::vector<Reading*>& readings) { recognizer_.Prefill(readings); });
  counters_.Add(&Progress::regions_retried, retried);
  for (Region* region : batch) {
    if (!region->error.empty()) cache_full_ = false;  // it gave its blocks back
    passed_on.push_back(region);
  }
  span.SetDetails("{\"regions\":" + std::to_string(batch.size()) +
                  ",\"rows\":" + std::to_string(rows) + "}");
  return passed_on;
}

PageSlot* DecodeStage::Add(Region& region) {
  if (!region.error.empty()) return Close(region);
  recognizer_.Submit(std::move(region.reading));
  return nullptr;
}

DecodeStage::Round DecodeStage::OnTick() {
  tick_.Arrived();
  Round round;
  StageSpan span(telemetry_, Stage::kSpeculativeDecode, -1, "round");
  const size_t live = recognizer_.live();
  const int64_t rows_before = recognizer_.stats().rows;
  std::vector<std::unique_ptr<Reading>> finished;
  Isolated([&] { finished = recognizer_.Step(); });
  round.freed_blocks = !finished.empty();
  for (const std::unique_ptr<Reading>& reading : finished) {
    Region& region = *reading->region;
    region.recognition = recognizer_.Result(*reading);
    if (region.recognition.finish == FinishReason::kFailed) {
      region.error = region.recognition.error;
    }
    counters_.Add(&Progress::tokens, static_cast<int64_t>(region.recognition.tokens.size()));
    if (PageSlot* page = Close(region)) round.finished_pages.push_back(page);
  }
  if (span.traced()) {
    span.SetDetails("{\"sequences\":" + std::to_string(live) +
                    ",\"rows\":" + std::to_string(recognizer_.stats().rows - rows_before) + "}");
  }
  counters_.Report();
  return round;
}

PageSlot* DecodeStage::Close(Region& region) {
  PageSlot* page = region.page;
  return --page->open_regions == 0 ? page : nullptr;
}

}  // namespace platen
