// A recogniser without a model, for tests of the graph: random delays, a cache of few blocks,
// failures on demand, and checks that the graph keeps the rules of pipeline/recognizer.h.
//
// A crop's first pixel says what it is: R = number of its text, G = decoding rounds it takes,
// B = what goes wrong (see FakeFault).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model/support/error.h"
#include "pipeline/recognizer.h"

namespace platen::testing {

// kLoopOnce: the text repeats itself at the first try; kLoop: at both.
enum class FakeFault : uint8_t {
  kNone,
  kPrepare,
  kEncode,
  kPrefill,
  kStep,
  kMachine,
  kLoopOnce,
  kLoop,
  kHang,          // never ends, if the recogniser hangs
  kHangSecondTry  // repeats itself, and then never ends, likewise
};

// Sleeps up to `max_us` microseconds, differently every time, the same for the same seed and count.
class Delays {
 public:
  Delays(uint64_t seed, int max_us) : state_(seed), max_us_(max_us) {}
  void Sleep() {
    if (max_us_ == 0) return;
    uint64_t x = state_.fetch_add(0x9E3779B97F4A7C15U) + 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    std::this_thread::sleep_for(
        std::chrono::microseconds((x >> 33) % static_cast<uint64_t>(max_us_)));
  }

 private:
  std::atomic<uint64_t> state_;
  int max_us_;
};

// Throws if two threads are inside at once.
class OneAtATime {
 public:
  explicit OneAtATime(std::atomic<int>& inside) : inside_(inside) {
    if (inside_.fetch_add(1) != 0) throw std::logic_error("two threads in a serial stage");
  }
  ~OneAtATime() { inside_.fetch_sub(1); }

 private:
  std::atomic<int>& inside_;
};

class FakeRecognizer : public Recognizer {
 public:
  struct Options {
    int cache_blocks = 1000;
    int preempt_every = 0;  // rounds, after which the youngest of several must give way; 0: never
    uint64_t seed = 1;
    int max_delay_us = 0;
    bool hangs = false;
  };

  explicit FakeRecognizer(Options options)
      : options_(options), delays_(options.seed, options.max_delay_us) {}

  std::unique_ptr<CropSequence> Prepare(const Image& crop, const RequestOptions&) override {
    delays_.Sleep();
    const uint8_t* pixel = crop.Row(0);
    if (FakeFault{pixel[2]} == FakeFault::kPrepare) {
      throw Error(ErrorKind::kInput, {}, "this crop cannot be prepared");
    }
    auto sequence = std::make_unique<FakeSequence>(*this);
    sequence->text = pixel[0];
    sequence->rounds_left = pixel[1];
    sequence->fault = FakeFault{pixel[2]};
    sequence->blocks = 1 + pixel[1] % options_.cache_blocks;
    sequence->patches = 100;
    sequence->prefill_rows = 30;
    return sequence;
  }

  void EncodeImages(std::span<CropSequence* const> sequences) override {
    const OneAtATime guard(encoding_);
    delays_.Sleep();
    Require(!sequences.empty(), "an empty vision batch");
    max_vision_batch = std::max(max_vision_batch, sequences.size());
    for (CropSequence* sequence : sequences) {
      if (Cast(*sequence).fault == FakeFault::kEncode) throw std::runtime_error("encoder fault");
      if (Cast(*sequence).fault == FakeFault::kMachine) {
        throw Error(ErrorKind::kEnvironment, {}, "the machine broke");
      }
      Cast(*sequence).encoded = true;
    }
  }

  bool TryReserve(CropSequence& sequence) override {
    FakeSequence& fake = Cast(sequence);
    Require(fake.reserved == 0, "a sequence reserved twice");
    int used = blocks_used_.load();
    while (used + fake.blocks <= options_.cache_blocks) {
      if (blocks_used_.compare_exchange_weak(used, used + fake.blocks)) {
        fake.reserved = fake.blocks;
        return true;
      }
    }
    ++refused;
    return false;
  }

  void Prefill(std::span<CropSequence* const> sequences) override {
    const OneAtATime guard(prefilling_);
    delays_.Sleep();
    Require(!sequences.empty(), "an empty prefill batch");
    for (CropSequence* sequence : sequences) {
      FakeSequence& fake = Cast(*sequence);
      Require(fake.encoded && fake.reserved > 0, "prefill before encoding or reservation");
      if (fake.fault == FakeFault::kPrefill) throw std::runtime_error("prefill fault");
      fake.prefilled = true;
    }
  }

  void Submit(std::unique_ptr<CropSequence> sequence) override {
    const OneAtATime guard(decoding_);
    Require(Cast(*sequence).prefilled, "a sequence that is not prefilled");
    live_.push_back(std::move(sequence));
    max_live = std::max(max_live, live_.size());
  }

  std::vector<std::unique_ptr<CropSequence>> Step() override {
    const OneAtATime guard(decoding_);
    delays_.Sleep();
    Require(!live_.empty(), "a round without sequences");
    for (const std::unique_ptr<CropSequence>& sequence : live_) {
      if (Cast(*sequence).fault == FakeFault::kStep) throw std::runtime_error("the engine broke");
    }
    ++stats_.steps;
    stats_.rows += static_cast<int64_t>(live_.size());
    std::vector<std::unique_ptr<CropSequence>> finished, remaining;
    for (std::unique_ptr<CropSequence>& sequence : live_) {
      FakeSequence& fake = Cast(*sequence);
      const bool hangs = options_.hangs && fake.fault == FakeFault::kHang;
      const bool done = --fake.rounds_left <= 0 && !hangs;
      if (done) fake.Release();
      (done ? finished : remaining).push_back(std::move(sequence));
    }
    live_ = std::move(remaining);
    if (options_.preempt_every > 0 && live_.size() > 1 &&
        stats_.steps % options_.preempt_every == 0) {
      Cast(*live_.back()).Release();
      Cast(*live_.back()).prefilled = false;
      preempted_.push_back(std::move(live_.back()));
      live_.pop_back();
      ++stats_.preemptions;
    }
    return finished;
  }

  std::vector<std::unique_ptr<CropSequence>> TakePreempted() override {
    const OneAtATime guard(decoding_);
    return std::exchange(preempted_, {});
  }

  std::unique_ptr<CropSequence> Cancel(CropSequence& sequence) override {
    const OneAtATime guard(decoding_);
    const auto found = std::find_if(live_.begin(), live_.end(),
                                    [&](const auto& each) { return each.get() == &sequence; });
    Require(found != live_.end(), "a sequence that is not live");
    std::unique_ptr<CropSequence> cancelled = std::move(*found);
    live_.erase(found);
    Cast(*cancelled).Release();
    return cancelled;
  }

  std::vector<std::unique_ptr<CropSequence>> Abandon() override {
    const OneAtATime guard(decoding_);
    for (std::unique_ptr<CropSequence>& sequence : live_) Cast(*sequence).Release();
    for (std::unique_ptr<CropSequence>& s : preempted_) live_.push_back(std::move(s));
    preempted_.clear();
    return std::exchange(live_, {});
  }

  std::unique_ptr<CropSequence> PrepareAgain(CropSequence& crop, double) override {
    const OneAtATime guard(decoding_);
    const FakeSequence& first = Cast(crop);
    auto again = std::make_unique<FakeSequence>(*this);
    again->text = first.text;
    again->rounds_left = 2;
    again->fault = first.fault == FakeFault::kLoop            ? FakeFault::kLoop
                   : first.fault == FakeFault::kHangSecondTry ? FakeFault::kHang
                                                              : FakeFault::kNone;
    again->blocks = 1;
    again->patches = 80;
    again->prefill_rows = 25;
    again->crop = crop.crop;
    return again;
  }

  size_t live() const override { return live_.size(); }
  EngineStats stats() const override { return stats_; }

  SequenceResult Result(const CropSequence& sequence) const override {
    SequenceResult recognition;
    recognition.tokens = {static_cast<const FakeSequence&>(sequence).text};
    recognition.probabilities = {0.75F};
    const FakeFault fault = static_cast<const FakeSequence&>(sequence).fault;
    if (fault == FakeFault::kLoopOnce || fault == FakeFault::kLoop ||
        fault == FakeFault::kHangSecondTry) {
      recognition.finish = FinishReason::kRepetition;
    }
    return recognition;
  }

  DecodedText Text(std::span<const TokenId> tokens) const override {
    const std::string text = "text " + std::to_string(tokens[0]);
    return {text, {static_cast<int>(text.size())}};
  }

  int blocks_used() const { return blocks_used_; }
  size_t max_live = 0;  // read after the run
  size_t max_vision_batch = 0;
  int refused = 0;  // reservations that had to wait

 private:
  struct FakeSequence : CropSequence {
    explicit FakeSequence(FakeRecognizer& recognizer) : owner(recognizer) {}
    ~FakeSequence() override { Release(); }
    void Release() {
      owner.blocks_used_ -= reserved;
      reserved = 0;
    }
    FakeRecognizer& owner;
    int text = 0, rounds_left = 0, blocks = 0, reserved = 0;
    FakeFault fault = FakeFault::kNone;
    bool encoded = false, prefilled = false;
  };

  static FakeSequence& Cast(CropSequence& sequence) { return static_cast<FakeSequence&>(sequence); }
  static void Require(bool condition, const char* broken_rule) {
    if (!condition) throw std::logic_error(broken_rule);
  }

  Options options_;
  Delays delays_;
  std::atomic<int> blocks_used_{0}, encoding_{0}, prefilling_{0}, decoding_{0};
  std::vector<std::unique_ptr<CropSequence>> live_, preempted_;
  EngineStats stats_;
};

}  // namespace platen::testing
