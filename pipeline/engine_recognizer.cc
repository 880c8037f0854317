#include "pipeline/engine_recognizer.h"

#include <cassert>
#include <utility>

#include "model/engine/random_stream.h"
#include "model/engine/sequence.h"
#include "stages/layout/scale_image.h"

namespace platen {
namespace {

// Owns the sequence except while it lives in the engine.
struct EngineCropSequence : CropSequence {
  explicit EngineCropSequence(Engine& engine_of_sequence) : engine(engine_of_sequence) {}
  EngineCropSequence(const EngineCropSequence&) = delete;
  EngineCropSequence& operator=(const EngineCropSequence&) = delete;
  ~EngineCropSequence() override {
    if (sequence) engine.Discard(*sequence);
  }

  Engine& engine;
  std::unique_ptr<Sequence> sequence;
};

EngineCropSequence& Cast(CropSequence& crop) { return static_cast<EngineCropSequence&>(crop); }

std::vector<Sequence*> SequencesOf(std::span<CropSequence* const> crops) {
  std::vector<Sequence*> sequences;
  for (CropSequence* crop : crops) sequences.push_back(Cast(*crop).sequence.get());
  return sequences;
}

}  // namespace

EngineRecognizer::EngineRecognizer(const Model& model, Engine& engine, OnFinished on_finished)
    : model_(model),
      engine_(engine),
      vision_(RequireVision(model)),
      on_finished_(std::move(on_finished)) {}

EngineRecognizer::~EngineRecognizer() { engine_.Reset(); }

std::unique_ptr<CropSequence> EngineRecognizer::Prepare(const Image& crop,
                                                        const RequestOptions& options) {
  return Prepared(MakeRequest(vision_, crop, options));
}

std::unique_ptr<CropSequence> EngineRecognizer::PrepareAgain(CropSequence& crop, double factor) {
  Request request = std::move(Cast(crop).sequence->request);
  request.images.front() = vision_.Prepare(ScaleImage(request.images.front().pixels, factor));
  request.sampling.seed = RequestSeed(request.sampling.seed, "again");
  std::unique_ptr<CropSequence> again = Prepared(std::move(request));
  again->crop = crop.crop;
  return again;
}

std::unique_ptr<CropSequence> EngineRecognizer::Prepared(Request request) const {
  auto prepared = std::make_unique<EngineCropSequence>(engine_);
  prepared->patches = request.images.front().grid.num_patches();
  prepared->sequence = engine_.Prepare(std::move(request));
  prepared->prefill_rows = static_cast<int>(prepared->sequence->num_prefill_rows());
  return prepared;
}

void EngineRecognizer::EncodeImages(std::span<CropSequence* const> crops) {
  engine_.EncodeImages(SequencesOf(crops));
}

bool EngineRecognizer::TryReserve(CropSequence& crop) {
  return engine_.TryReserve(*Cast(crop).sequence);
}

void EngineRecognizer::Prefill(std::span<CropSequence* const> crops) {
  engine_.Prefill(SequencesOf(crops));
}

void EngineRecognizer::Submit(std::unique_ptr<CropSequence> crop) {
  std::unique_ptr<Sequence>& sequence = Cast(*crop).sequence;
  const auto place = live_.emplace(sequence->id, std::move(crop)).first;
  try {
    engine_.Submit(std::move(sequence));
  } catch (...) {
    live_.erase(place);
    throw;
  }
}

std::unique_ptr<CropSequence> EngineRecognizer::TakeBack(
    std::unique_ptr<Sequence> sequence) noexcept {
  const auto place = live_.find(sequence->id);
  assert(place != live_.end());
  std::unique_ptr<CropSequence> crop = std::move(place->second);
  live_.erase(place);
  Cast(*crop).sequence = std::move(sequence);
  return crop;
}

std::vector<std::unique_ptr<CropSequence>> EngineRecognizer::Step() {
  std::vector<std::unique_ptr<CropSequence>> finished;
  finished.reserve(live_.size());  // what the engine hands out must arrive
  for (auto& sequence : engine_.Step()) finished.push_back(TakeBack(std::move(sequence)));
  for (const auto& crop : finished) {
    if (on_finished_) on_finished_(*Cast(*crop).sequence, *crop);
  }
  return finished;
}

std::vector<std::unique_ptr<CropSequence>> EngineRecognizer::TakePreempted() {
  std::vector<std::unique_ptr<CropSequence>> crops;
  std::vector<std::unique_ptr<Sequence>> preempted = engine_.TakePreempted();
  crops.reserve(preempted.size());
  for (auto& sequence : preempted) {
    crops.push_back(TakeBack(std::move(sequence)));
    crops.back()->prefill_rows = static_cast<int>(Cast(*crops.back()).sequence->num_prefill_rows());
  }
  return crops;
}

std::unique_ptr<CropSequence> EngineRecognizer::Cancel(CropSequence& crop) {
  const auto place = std::find_if(live_.begin(), live_.end(),
                                  [&](const auto& each) { return each.second.get() == &crop; });
  assert(place != live_.end());
  return TakeBack(engine_.Cancel(place->first));
}

std::vector<std::unique_ptr<CropSequence>> EngineRecognizer::Abandon() {
  std::vector<std::unique_ptr<CropSequence>> crops;
  crops.reserve(live_.size());
  for (auto& sequence : engine_.Reset()) crops.push_back(TakeBack(std::move(sequence)));
  return crops;
}

size_t EngineRecognizer::live() const { return engine_.live(); }

EngineStats EngineRecognizer::stats() const { return engine_.stats(); }

SequenceResult EngineRecognizer::Result(const CropSequence& crop) const {
  return static_cast<const EngineCropSequence&>(crop).sequence->result;
}

DecodedText EngineRecognizer::Text(std::span<const TokenId> tokens) const {
  return DecodeTokens(model_.tokenizer(), tokens);
}

}  // namespace platen
