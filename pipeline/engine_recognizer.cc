#include "pipeline/engine_recognizer.h"

#include <cassert>
#include <utility>

#include "model/engine/sequence.h"

namespace platen {
namespace {

// Owns the sequence except while it lives in the engine.
struct EngineReading : Reading {
  explicit EngineReading(Engine& engine_of_sequence) : engine(engine_of_sequence) {}
  EngineReading(const EngineReading&) = delete;
  EngineReading& operator=(const EngineReading&) = delete;
  ~EngineReading() override {
    if (sequence) engine.Discard(*sequence);
  }

  Engine& engine;
  std::unique_ptr<Sequence> sequence;
};

EngineReading& Cast(Reading& reading) { return static_cast<EngineReading&>(reading); }

std::vector<Sequence*> SequencesOf(std::span<Reading* const> readings) {
  std::vector<Sequence*> sequences;
  for (Reading* reading : readings) sequences.push_back(Cast(*reading).sequence.get());
  return sequences;
}

}  // namespace

EngineRecognizer::EngineRecognizer(const Model& model, Engine& engine, RequestOptions options)
    : model_(model), engine_(engine), options_(std::move(options)), vision_(RequireVision(model)) {}

EngineRecognizer::~EngineRecognizer() { engine_.Reset(); }

std::unique_ptr<Reading> EngineRecognizer::Prepare(const Image& crop) {
  Request request = MakeRequest(vision_, crop, options_);
  auto reading = std::make_unique<EngineReading>(engine_);
  reading->patches = request.images.front().grid.num_patches();
  reading->sequence = engine_.Prepare(std::move(request));
  reading->prompt_rows = static_cast<int>(reading->sequence->prompt_len());
  return reading;
}

void EngineRecognizer::EncodeImages(std::span<Reading* const> readings) {
  engine_.EncodeImages(SequencesOf(readings));
}

bool EngineRecognizer::TryReserve(Reading& reading) {
  return engine_.TryReserve(*Cast(reading).sequence);
}

void EngineRecognizer::Prefill(std::span<Reading* const> readings) {
  engine_.Prefill(SequencesOf(readings));
}

void EngineRecognizer::Submit(std::unique_ptr<Reading> reading) {
  std::unique_ptr<Sequence>& sequence = Cast(*reading).sequence;
  const auto place = live_.emplace(sequence->id, std::move(reading)).first;
  try {
    engine_.Submit(std::move(sequence));
  } catch (...) {
    live_.erase(place);
    throw;
  }
}

std::unique_ptr<Reading> EngineRecognizer::TakeBack(std::unique_ptr<Sequence> sequence) noexcept {
  const auto place = live_.find(sequence->id);
  assert(place != live_.end());
  std::unique_ptr<Reading> reading = std::move(place->second);
  live_.erase(place);
  Cast(*reading).sequence = std::move(sequence);
  return reading;
}

std::vector<std::unique_ptr<Reading>> EngineRecognizer::Step() {
  std::vector<std::unique_ptr<Reading>> finished;
  finished.reserve(live_.size());  // what the engine hands out must arrive
  for (auto& sequence : engine_.Step()) finished.push_back(TakeBack(std::move(sequence)));
  return finished;
}

std::vector<std::unique_ptr<Reading>> EngineRecognizer::Abandon() {
  std::vector<std::unique_ptr<Reading>> readings;
  readings.reserve(live_.size());
  for (auto& sequence : engine_.Reset()) readings.push_back(TakeBack(std::move(sequence)));
  return readings;
}

size_t EngineRecognizer::live() const { return engine_.live(); }

EngineStats EngineRecognizer::stats() const { return engine_.stats(); }

Recognition EngineRecognizer::Result(const Reading& reading) const {
  return static_cast<const EngineReading&>(reading).sequence->result;
}

std::string EngineRecognizer::Text(std::span<const TokenId> tokens) const {
  return model_.tokenizer().Decode(tokens, /*skip_special=*/true);
}

}  // namespace platen
