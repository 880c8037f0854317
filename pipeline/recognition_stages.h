// The stages that work on many pages' crops together: vision_encode, prefill, speculative_decode.
//
// Each is the body of a serial graph node and keeps a list of what waits. What arrives is only
// added to the list; the work is done when the node gets a *tick*, a message it sends to itself. A
// tick queues up behind everything that has arrived meanwhile, so a batch takes all that waits (up
// to its budget) and nothing ever waits for a batch to fill up. At most one tick is under way per
// stage.
//
// A batch that fails is tried again crop by crop, so that a bad one costs only itself; not if
// the machine is what failed (Error(kEnvironment)). Results do not depend on the batch, so a retry
// shows in the run's report and nowhere else.
//
// No threads, no locks: serial nodes never run two bodies at once, and crops are handed from one
// stage to the next.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "pipeline/messages.h"
#include "pipeline/progress.h"
#include "pipeline/recognizer.h"
#include "pipeline/telemetry.h"

namespace platen {

// Whether a tick is under way. Sending is the graph's part: `if (tick.Take(work)) send`.
class TickState {
 public:
  // True if there is work and no tick is under way yet: the caller must send one.
  bool Take(bool work) {
    if (under_way_ || !work) return false;
    under_way_ = true;
    return true;
  }
  void Arrived() { under_way_ = false; }

 private:
  bool under_way_ = false;
};

// Crops in the order their pages arrive, encoded in batches of at most `patch_budget` patches
// (but at least one crop): the crops of a page together, with those of the next if they are
// few.
class VisionStage {
 public:
  VisionStage(Recognizer& recognizer, Telemetry& telemetry, ProgressCounters& counters,
              int patch_budget)
      : recognizer_(recognizer),
        telemetry_(telemetry),
        counters_(counters),
        patch_budget_(patch_budget) {}

  void Add(PageSlot& page);
  // A crop that is read once more. It goes before those that wait.
  void AddAgain(PageCrop& crop) { waiting_.push_front(&crop); }
  // One batch; returns its crops, encoded or failed.
  std::vector<PageCrop*> OnTick();
  bool MustTick() { return tick_.Take(!waiting_.empty()); }

 private:
  Recognizer& recognizer_;
  Telemetry& telemetry_;
  ProgressCounters& counters_;
  int patch_budget_;
  std::deque<PageCrop*> waiting_;
  TickState tick_;
};

// Crops in order, prefilled in batches of at most `row_budget` rows (but at least one crop), as far
// as the cache has room. What does not fit waits here, without holding a thread, until
// speculative_decode frees blocks and wakes this stage. Crops that speculative_decode sends back,
// because the cache ran full, go before all others.
//
// It cannot deadlock: a crop that does not fit waits only while others hold blocks; those are
// decoded or about to be. Of those that are decoded the oldest always gets the blocks it needs,
// from the youngest if none are free, and every crop fits an empty cache (Recognizer::Prepare
// refuses it otherwise). Nor does it go round in circles: a crop that comes back is given room for
// more than it had.
class PrefillStage {
 public:
  PrefillStage(Recognizer& recognizer, Telemetry& telemetry, ProgressCounters& counters,
               int row_budget)
      : recognizer_(recognizer),
        telemetry_(telemetry),
        counters_(counters),
        row_budget_(row_budget) {}

  void Add(PageCrop& crop) { waiting_.push_back(&crop); }
  void AddPreempted(PageCrop& crop) {
    preempted_.push_back(&crop);
    cache_full_ = false;
  }
  void OnBlocksFreed() { cache_full_ = false; }
  // One batch; returns its crops, prefilled or failed.
  std::vector<PageCrop*> OnTick();
  bool MustTick() { return tick_.Take(!(preempted_.empty() && waiting_.empty()) && !cache_full_); }

 private:
  std::vector<PageCrop*> TakeBatch(std::vector<PageCrop*>& failed);

  Recognizer& recognizer_;
  Telemetry& telemetry_;
  ProgressCounters& counters_;
  int row_budget_;
  std::deque<PageCrop*> preempted_, waiting_;
  bool cache_full_ = false;
  TickState tick_;
};

// The continuous batch: crops join when prefilled and leave when finished; every tick is one
// round over all that live. A crop whose text repeats itself without end is read once more at
// another scale, which often helps; if it repeats itself again, the first text stays, cut.
class DecodeStage {
 public:
  DecodeStage(Recognizer& recognizer, Telemetry& telemetry, ProgressCounters& counters)
      : recognizer_(recognizer), telemetry_(telemetry), counters_(counters) {}

  // A prefilled crop joins the batch; a failed one is closed at once. Returns its page if that
  // was the page's last open crop, else nullptr.
  PageSlot* Add(PageCrop& crop);

  struct Round {
    std::vector<PageSlot*> finished_pages;
    std::vector<PageCrop*> preempted;  // to be prefilled again
    std::vector<PageCrop*> again;      // to be read once more, from their pixels on
    bool freed_blocks = false;
  };
  Round OnTick();
  bool MustTick() { return tick_.Take(recognizer_.live() > 0); }

  // Drops every crop that is being decoded, for a run that ends early. Its pages come to nothing.
  void Abandon() { recognizer_.Abandon(); }

 private:
  void GiveUpThoseOver(Round& round);
  void Take(CropSequence& sequence, Round& round);
  bool TryAgain(CropSequence& sequence);
  PageSlot* Close(PageCrop& crop);

  Recognizer& recognizer_;
  Telemetry& telemetry_;
  ProgressCounters& counters_;
  std::vector<CropSequence*> live_;  // the recogniser's, in order of their coming
  TickState tick_;
};

}  // namespace platen
