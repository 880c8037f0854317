#include "pipeline/recognition_stages.h"

#include <tbb/task_arena.h>

#include <string>

#include "model/support/attempt.h"
#include "model/support/display_text.h"

namespace platen {
namespace {

// Parallel loops inside the recogniser must not make this thread start another graph node while it
// waits for its last tiles: a decode round would then take as long as a whole prefill.
template <typename Work>
void Isolated(Work&& work) {
  tbb::this_task_arena::isolate(std::forward<Work>(work));
}

std::vector<CropSequence*> SequencesOf(const std::vector<PageCrop*>& crops) {
  std::vector<CropSequence*> sequences;
  for (const PageCrop* crop : crops) sequences.push_back(crop->sequence.get());
  return sequences;
}

void Fail(PageCrop& crop, const Fault& error) {
  crop.error = error;
  crop.sequence.reset();
}

// Whether the crop goes past the stage: it has failed, or nobody wants it any more.
bool IsOver(PageCrop& crop) {
  if (crop.error.empty()) {
    if (const Fault why = WhyOver(*crop.page); !why.empty()) Fail(crop, why);
  }
  return !crop.error.empty();
}

// `work` on the sequences of the batch, and if that fails on one after the other. Crops whose own
// work fails get the error. Returns how many were tried by themselves.
template <typename Work>
int64_t RunBatch(const std::vector<PageCrop*>& batch, const Work& work) {
  bool machine_failed = false;
  const Fault error = AttemptWith(FailureCode::kModel, [&] {
    try {
      Isolated([&] { work(SequencesOf(batch)); });
    } catch (const Error& e) {
      machine_failed = e.kind() == ErrorKind::kEnvironment;
      throw;
    }
  });
  if (error.empty()) return 0;
  if (batch.size() == 1 || machine_failed) {
    for (PageCrop* crop : batch) Fail(*crop, error);
    return 0;
  }
  for (PageCrop* crop : batch) RunBatch({crop}, work);
  return static_cast<int64_t>(batch.size());
}

// "a.tif p3 (+1 page)"
std::string BatchLabel(const std::vector<PageCrop*>& crops) {
  if (crops.empty()) return "-";
  const PageSlot* first = crops.front()->page;
  const PageSlot* last = nullptr;
  int pages = 0;
  for (const PageCrop* crop : crops) {
    pages += crop->page != last ? 1 : 0;
    last = crop->page;
  }
  std::string label =
      DisplayName(first->job.document->name) + " p" + std::to_string(first->job.page);
  if (pages > 1) label += " (+" + std::to_string(pages - 1) + ")";
  return label;
}

}  // namespace

void VisionStage::Add(PageSlot& page) {
  for (PageCrop& crop : page.crops) waiting_.push_back(&crop);
}

std::vector<PageCrop*> VisionStage::OnTick() {
  tick_.Arrived();
  std::vector<PageCrop*> batch, passed_on;
  int patches = 0;
  while (!waiting_.empty()) {
    PageCrop* crop = waiting_.front();
    if (IsOver(*crop)) {
      passed_on.push_back(crop);
    } else {
      if (!batch.empty() && crop->sequence->patches > patch_budget_ - patches) break;
      patches += crop->sequence->patches;
      batch.push_back(crop);
    }
    waiting_.pop_front();
  }
  if (!batch.empty()) {
    StageSpan span(telemetry_, Stage::kVisionEncode, -1, BatchLabel(batch));
    span.SetDetails("{\"regions\":" + std::to_string(batch.size()) +
                    ",\"patches\":" + std::to_string(patches) + "}");
    const int64_t retried = RunBatch(batch, [&](const std::vector<CropSequence*>& sequences) {
      recognizer_.EncodeImages(sequences);
    });
    counters_.Add(&Progress::regions_retried, retried);
    passed_on.insert(passed_on.end(), batch.begin(), batch.end());
  }
  return passed_on;
}

std::vector<PageCrop*> PrefillStage::TakeBatch(std::vector<PageCrop*>& failed) {
  std::vector<PageCrop*> batch;
  int rows = 0;
  while (!(preempted_.empty() && waiting_.empty())) {
    std::deque<PageCrop*>& next = preempted_.empty() ? waiting_ : preempted_;
    PageCrop* crop = next.front();
    if (IsOver(*crop)) {
      failed.push_back(crop);
    } else {
      if (!batch.empty() && crop->sequence->prefill_rows > row_budget_ - rows) break;
      if (!recognizer_.TryReserve(*crop->sequence)) {
        cache_full_ = true;
        break;
      }
      rows += crop->sequence->prefill_rows;
      batch.push_back(crop);
    }
    next.pop_front();
  }
  return batch;
}

std::vector<PageCrop*> PrefillStage::OnTick() {
  tick_.Arrived();
  std::vector<PageCrop*> passed_on;
  const std::vector<PageCrop*> batch = TakeBatch(passed_on);
  if (batch.empty()) return passed_on;
  StageSpan span(telemetry_, Stage::kPrefill, -1, BatchLabel(batch));
  int rows = 0;
  for (const PageCrop* crop : batch) rows += crop->sequence->prefill_rows;
  const int64_t retried = RunBatch(
      batch, [&](const std::vector<CropSequence*>& sequences) { recognizer_.Prefill(sequences); });
  counters_.Add(&Progress::regions_retried, retried);
  for (PageCrop* crop : batch) {
    if (!crop->error.empty()) cache_full_ = false;  // it gave its blocks back
    passed_on.push_back(crop);
  }
  span.SetDetails("{\"regions\":" + std::to_string(batch.size()) +
                  ",\"rows\":" + std::to_string(rows) + "}");
  return passed_on;
}

PageSlot* DecodeStage::Add(PageCrop& crop) {
  // The other try failed before it was decoded; not so a page that is over as a whole.
  if (!crop.error.empty() && crop.first_try && WhyOver(*crop.page).empty()) {
    crop.error.clear();
    crop.result = *crop.first_try;
    return Close(crop);
  }
  if (!crop.error.empty()) return Close(crop);
  live_.push_back(crop.sequence.get());
  recognizer_.Submit(std::move(crop.sequence));
  return nullptr;
}

DecodeStage::Round DecodeStage::OnTick() {
  tick_.Arrived();
  Round round;
  StageSpan span(telemetry_, Stage::kSpeculativeDecode, -1, "round");
  const size_t live = recognizer_.live();
  const int64_t rows_before = recognizer_.stats().rows;
  GiveUpThoseOver(round);
  if (live_.empty()) return round;
  std::vector<std::unique_ptr<CropSequence>> finished;
  Isolated([&] { finished = recognizer_.Step(); });
  round.freed_blocks |= !finished.empty();
  for (const std::unique_ptr<CropSequence>& sequence : finished) {
    std::erase(live_, sequence.get());
    Take(*sequence, round);
  }
  for (std::unique_ptr<CropSequence>& sequence : recognizer_.TakePreempted()) {
    std::erase(live_, sequence.get());
    PageCrop& crop = *sequence->crop;
    crop.sequence = std::move(sequence);
    round.preempted.push_back(&crop);
  }
  if (span.traced()) {
    span.SetDetails("{\"sequences\":" + std::to_string(live) +
                    ",\"rows\":" + std::to_string(recognizer_.stats().rows - rows_before) + "}");
  }
  counters_.Report();
  return round;
}

void DecodeStage::GiveUpThoseOver(Round& round) {
  std::erase_if(live_, [&](CropSequence* sequence) {
    PageCrop& crop = *sequence->crop;
    const Fault why = WhyOver(*crop.page);
    if (why.empty()) return false;
    recognizer_.Cancel(*sequence);
    Fail(crop, why);
    round.freed_blocks = true;
    if (PageSlot* page = Close(crop)) round.finished_pages.push_back(page);
    return true;
  });
}

void DecodeStage::Take(CropSequence& sequence, Round& round) {
  PageCrop& crop = *sequence.crop;
  crop.result = recognizer_.Result(sequence);
  counters_.Add(&Progress::tokens, static_cast<int64_t>(crop.result.tokens.size()));
  const FinishReason finish = crop.result.finish;
  if (finish == FinishReason::kRepetition && !crop.first_try && TryAgain(sequence)) {
    round.again.push_back(&crop);
    return;
  }
  const bool no_better = finish == FinishReason::kRepetition || finish == FinishReason::kFailed;
  if (crop.first_try && no_better) {
    crop.result = *crop.first_try;
  } else if (finish == FinishReason::kFailed) {
    crop.error = {crop.result.error, FailureCode::kModel};
  }
  if (PageSlot* page = Close(crop)) round.finished_pages.push_back(page);
}

// What cannot be read at the other scale keeps the text it has.
bool DecodeStage::TryAgain(CropSequence& sequence) {
  constexpr double kOtherScale = 0.85;
  PageCrop& crop = *sequence.crop;
  const std::string error =
      Attempt([&] { crop.sequence = recognizer_.PrepareAgain(sequence, kOtherScale); });
  if (!error.empty()) return false;
  crop.first_try = std::move(crop.result);
  counters_.Add(&Progress::regions_read_again, 1);
  return true;
}

PageSlot* DecodeStage::Close(PageCrop& crop) {
  PageSlot* page = crop.page;
  return --page->open_crops == 0 ? page : nullptr;
}

}  // namespace platen
