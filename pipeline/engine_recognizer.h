// The decoding engine behind the graph's interface.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/families/model.h"
#include "pipeline/recognizer.h"

namespace platen {

struct RecognitionOptions {
  std::string task_text;   // the prompt that follows each crop
  int max_new_tokens = 0;  // 0: derived from the size of the crop
  float repetition_penalty = 1.0F;
  bool ignore_stop = false;  // for measurements: every crop gives exactly max_new_tokens
};

// `model`, which must read images, and `engine` outlive the recogniser and everything it hands out.
// An engine serves one recogniser at a time; what that has not read to the end when it is destroyed
// is abandoned.
class EngineRecognizer : public Recognizer {
 public:
  EngineRecognizer(const Model& model, Engine& engine, RecognitionOptions options);
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
  RecognitionOptions options_;
  const VisionModel& vision_;
  std::map<const Sequence*, std::unique_ptr<Reading>> live_;  // those that the engine decodes
};

}  // namespace platen
