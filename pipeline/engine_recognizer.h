// The decoding engine behind the graph's interface.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/families/model.h"
#include "pipeline/recognizer.h"

namespace platen {

// `model`, which must read images, and `engine` outlive the recogniser and everything it hands out.
// An engine serves one recogniser at a time; what that has not read to the end when it is destroyed
// is abandoned.
class EngineRecognizer : public Recognizer {
 public:
  // `on_finished` sees every sequence that was read to its end, with its crop, in the thread of
  // Step; empty: nobody does. What it throws leaves Step.
  using OnFinished = std::function<void(const Sequence& sequence, const CropSequence& crop)>;
  EngineRecognizer(const Model& model, Engine& engine, OnFinished on_finished = {});
  ~EngineRecognizer() override;
  EngineRecognizer(const EngineRecognizer&) = delete;
  EngineRecognizer& operator=(const EngineRecognizer&) = delete;

  std::unique_ptr<CropSequence> Prepare(const Image& crop, const RequestOptions& options) override;
  void EncodeImages(std::span<CropSequence* const> crops) override;
  bool TryReserve(CropSequence& crop) override;
  void Prefill(std::span<CropSequence* const> crops) override;
  void Submit(std::unique_ptr<CropSequence> crop) override;
  std::vector<std::unique_ptr<CropSequence>> Step() override;
  std::vector<std::unique_ptr<CropSequence>> TakePreempted() override;
  std::unique_ptr<CropSequence> Cancel(CropSequence& crop) override;
  std::vector<std::unique_ptr<CropSequence>> Abandon() override;
  std::unique_ptr<CropSequence> PrepareAgain(CropSequence& crop, double factor) override;
  size_t live() const override;
  EngineStats stats() const override;
  SequenceResult Result(const CropSequence& crop) const override;
  DecodedText Text(std::span<const TokenId> tokens) const override;

 private:
  std::unique_ptr<CropSequence> Prepared(Request request) const;
  std::unique_ptr<CropSequence> TakeBack(std::unique_ptr<Sequence> sequence) noexcept;

  const Model& model_;
  Engine& engine_;
  const VisionModel& vision_;
  const OnFinished on_finished_;
  std::map<SequenceId, std::unique_ptr<CropSequence>> live_;  // those that the engine decodes
};

}  // namespace platen
