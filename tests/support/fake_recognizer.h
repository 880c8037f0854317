// A recogniser without a model, for tests of the graph: random delays, a cache of few blocks,
// failures on demand, and checks that the graph keeps the rules of pipeline/recognizer.h.
//
// A crop's first pixel says what it is: R = number of its text, G = decoding rounds it takes,
// B = what goes wrong (see Fault).
#pragma once

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

enum class Fault : uint8_t { kNone, kPrepare, kEncode, kPrefill, kStep, kMachine };

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
    uint64_t seed = 1;
    int max_delay_us = 0;
  };

  explicit FakeRecognizer(Options options)
      : options_(options), delays_(options.seed, options.max_delay_us) {}

  std::unique_ptr<Reading> Prepare(const Image& crop) override {
    delays_.Sleep();
    const uint8_t* pixel = crop.Row(0);
    if (Fault{pixel[2]} == Fault::kPrepare) {
      throw Error(ErrorKind::kInput, {}, "this crop cannot be prepared");
    }
    auto reading = std::make_unique<FakeReading>(*this);
    reading->text = pixel[0];
    reading->rounds_left = pixel[1];
    reading->fault = Fault{pixel[2]};
    reading->blocks = 1 + pixel[1] % options_.cache_blocks;
    reading->patches = 100;
    reading->prompt_rows = 30;
    return reading;
  }

  void EncodeImages(std::span<Reading* const> readings) override {
    const OneAtATime guard(encoding_);
    delays_.Sleep();
    Require(!readings.empty(), "an empty vision batch");
    max_vision_batch = std::max(max_vision_batch, readings.size());
    for (Reading* reading : readings) {
      if (Cast(*reading).fault == Fault::kEncode) throw std::runtime_error("encoder fault");
      if (Cast(*reading).fault == Fault::kMachine) {
        throw Error(ErrorKind::kEnvironment, {}, "the machine broke");
      }
      Cast(*reading).encoded = true;
    }
  }

  bool TryReserve(Reading& reading) override {
    FakeReading& fake = Cast(reading);
    Require(fake.reserved == 0, "a reading reserved twice");
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

  void Prefill(std::span<Reading* const> readings) override {
    const OneAtATime guard(prefilling_);
    delays_.Sleep();
    Require(!readings.empty(), "an empty prefill batch");
    for (Reading* reading : readings) {
      FakeReading& fake = Cast(*reading);
      Require(fake.encoded && fake.reserved > 0, "prefill before encoding or reservation");
      if (fake.fault == Fault::kPrefill) throw std::runtime_error("prefill fault");
      fake.prefilled = true;
    }
  }

  void Submit(std::unique_ptr<Reading> reading) override {
    const OneAtATime guard(decoding_);
    Require(Cast(*reading).prefilled, "a reading that is not prefilled");
    live_.push_back(std::move(reading));
    max_live = std::max(max_live, live_.size());
  }

  std::vector<std::unique_ptr<Reading>> Step() override {
    const OneAtATime guard(decoding_);
    delays_.Sleep();
    Require(!live_.empty(), "a round without sequences");
    for (const std::unique_ptr<Reading>& reading : live_) {
      if (Cast(*reading).fault == Fault::kStep) throw std::runtime_error("the engine broke");
    }
    ++stats_.steps;
    stats_.rows += static_cast<int64_t>(live_.size());
    std::vector<std::unique_ptr<Reading>> finished, remaining;
    for (std::unique_ptr<Reading>& reading : live_) {
      FakeReading& fake = Cast(*reading);
      const bool done = --fake.rounds_left <= 0;
      if (done) fake.Release();
      (done ? finished : remaining).push_back(std::move(reading));
    }
    live_ = std::move(remaining);
    return finished;
  }

  std::vector<std::unique_ptr<Reading>> Abandon() override {
    const OneAtATime guard(decoding_);
    for (std::unique_ptr<Reading>& reading : live_) Cast(*reading).Release();
    return std::exchange(live_, {});
  }

  size_t live() const override { return live_.size(); }
  EngineStats stats() const override { return stats_; }

  Recognition Result(const Reading& reading) const override {
    Recognition recognition;
    recognition.tokens = {static_cast<const FakeReading&>(reading).text};
    recognition.probabilities = {0.75F};
    return recognition;
  }

  std::string Text(std::span<const TokenId> tokens) const override {
    return "text " + std::to_string(tokens[0]);
  }

  int blocks_used() const { return blocks_used_; }
  size_t max_live = 0;  // read after the run
  size_t max_vision_batch = 0;
  int refused = 0;  // reservations that had to wait

 private:
  struct FakeReading : Reading {
    explicit FakeReading(FakeRecognizer& recognizer) : owner(recognizer) {}
    ~FakeReading() override { Release(); }
    void Release() {
      owner.blocks_used_ -= reserved;
      reserved = 0;
    }
    FakeRecognizer& owner;
    int text = 0, rounds_left = 0, blocks = 0, reserved = 0;
    Fault fault = Fault::kNone;
    bool encoded = false, prefilled = false;
  };

  static FakeReading& Cast(Reading& reading) { return static_cast<FakeReading&>(reading); }
  static void Require(bool condition, const char* broken_rule) {
    if (!condition) throw std::logic_error(broken_rule);
  }

  Options options_;
  Delays delays_;
  std::atomic<int> blocks_used_{0}, encoding_{0}, prefilling_{0}, decoding_{0};
  std::vector<std::unique_ptr<Reading>> live_;
  EngineStats stats_;
};

}  // namespace platen::testing
