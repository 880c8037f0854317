// The decoding engine behind the graph's interface.
#pragma once

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
  EngineRecognizer(const Model& model, Engine& engine, RequestOptions options);
  ~EngineRecognizer() override;
  EngineRecognizer(const EngineRecognizer&) = delete;
  EngineRecognizer& operator=(const EngineRecognizer&) = delete;

  std::unique_ptr<Reading> Prepare(const Image& crop) override;
  void EncodeImages(std::span<Reading* const> readings) override;
  bool TryReserve(Reading& reading) override;
  void Prefill(std::span<Reading* const> readings) override;
  void Submit(std::unique_ptr<Reading> reading) override;
  std::vector<std::unique_ptr<Reading>> Step() override;
  std::vector<std::unique_ptr<Reading>> Abandon() override;
  size_t live() const override;
  EngineStats stats() const override;
  Recognition Result(const Reading& reading) const override;
  std::string Text(std::span<const TokenId> tokens) const override;

 private:
  std::unique_ptr<Reading> TakeBack(std::unique_ptr<Sequence> sequence) noexcept;

  const Model& model_;
  Engine& engine_;
  RequestOptions options_;
  const VisionModel& vision_;
  std::map<SequenceId, std::unique_ptr<Reading>> live_;  // those that the engine decodes
};

}  // namespace platen
