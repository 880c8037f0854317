#include "pipeline/engine_recognizer.h"

#include <utility>

#include "model/sequence.h"

namespace platen {
namespace {

// Owns the sequence except while it lives in the engine; Sequence::user points back here then.
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

EngineRecognizer::EngineRecognizer(const Model& model, Engine& engine, RecognitionOptions options)
    : model_(model),
      engine_(engine),
      options_(std::move(options)),
      image_processor_(model.config().image_processor) {}

std::unique_ptr<Reading> EngineRecognizer::Prepare(const Image& crop) {
  Request request;
  request.images.push_back(image_processor_.Prepare(crop));
  request.task_text = options_.task_text;
  request.max_new_tokens = options_.max_new_tokens;
  request.repetition_penalty = options_.repetition_penalty;
  request.ignore_stop = options_.ignore_stop;

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
  std::unique_ptr<Sequence> sequence = std::move(Cast(*reading).sequence);
  sequence->user = reading.release();
  engine_.Submit(std::move(sequence));
}

std::vector<std::unique_ptr<Reading>> EngineRecognizer::Step() {
  std::vector<std::unique_ptr<Reading>> finished;
  for (std::unique_ptr<Sequence>& sequence : engine_.Step()) {
    std::unique_ptr<Reading> reading(static_cast<Reading*>(sequence->user));
    sequence->user = nullptr;
    Cast(*reading).sequence = std::move(sequence);
    finished.push_back(std::move(reading));
  }
  return finished;
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
