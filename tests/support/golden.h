// Golden cases of the reference implementation (tests/golden) and a model to run them on.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/engine/engine.h"
#include "model/engine/sequence.h"
#include "model/families/model.h"
#include "model/families/snapshot.h"
#include "tests/support/npy.h"

namespace platen::testing {

inline nlohmann::json ReadJson(const std::string& relative) {
  return nlohmann::json::parse(ReadSmallFile(SourcePath(relative), 64U << 20U));
}

// A random golden snapshot with the given kernels.
inline std::unique_ptr<Model> LoadGoldenModel(const std::string& name, const KernelTable& kernels,
                                              Precision precision) {
  return std::make_unique<Model>(
      std::make_unique<Snapshot>(LoadSnapshot(SourcePath("tests/golden/snapshots/" + name))),
      kernels, precision);
}

// The same with the best kernels, loaded once per process.
inline const Model& GoldenModel(const std::string& name, Precision precision = Precision::kF32) {
  static std::map<std::pair<std::string, Precision>, std::unique_ptr<Model>> models;
  auto& model = models[{name, precision}];
  if (!model) model = LoadGoldenModel(name, BestKernels(), precision);
  return *model;
}

// The decoded array of a golden image file ("exif6.jpg"), as the reference saw it.
inline Image GoldenImage(const std::string& file) {
  const std::string stem = file.substr(0, file.find('.'));
  const Npy npy = ReadNpy(SourcePath("tests/golden/images/decoded/" + stem + ".npy"));
  Image image(static_cast<int>(npy.shape[1]), static_cast<int>(npy.shape[0]));
  image.rgb = npy.u8;
  return image;
}

// One folder with a golden.json.
struct GoldenCase {
  std::string folder;  // below the repository root
  nlohmann::json json;

  explicit GoldenCase(const std::string& relative)
      : folder(relative), json(ReadJson(relative + "/golden.json")) {}
  Npy Array(const std::string& name) const {
    return ReadNpy(SourcePath(folder + "/" + json["arrays"][name]["file"].get<std::string>()));
  }
  double Atol(const std::string& name) const { return json["arrays"][name]["atol"].get<double>(); }
};

// The request of a case in cases/SNAPSHOT/CASE.
inline Request GoldenRequest(const Model& model, const GoldenCase& golden) {
  Request request;
  for (const auto& file : golden.json["images"]) {
    request.images.push_back(model.vision()->Prepare(GoldenImage(file.get<std::string>())));
  }
  request.task_text = golden.json["text"].get<std::string>();
  return request;
}

inline std::vector<TokenId> Ids(const nlohmann::json& array) {
  return array.get<std::vector<TokenId>>();
}

// Arrays an engine's observer reported, by name; a name reported again is appended.
struct Recorder {
  std::map<std::string, std::vector<float>> arrays;
  Observer observer() {
    return [this](const std::string& name, ConstMatView rows) {
      for (int64_t r = 0; r < rows.rows; ++r) {
        arrays[name].insert(arrays[name].end(), rows.Row(r), rows.Row(r) + rows.cols);
      }
    };
  }
};

// Prefills one request and hands it over; it belongs to the engine then.
inline Sequence* Start(Engine& engine, Request request) {
  std::unique_ptr<Sequence> sequence = engine.Prepare(std::move(request));
  Sequence* raw = sequence.get();
  engine.EncodeImages(std::span(&raw, 1));
  if (!engine.TryReserve(*raw)) throw std::runtime_error("no KV blocks");
  engine.Prefill(std::span(&raw, 1));
  engine.Submit(std::move(sequence));
  return raw;
}

// Reserves and prefills sequences that were preempted, or are new, as far as there is room; returns
// the others.
inline std::vector<std::unique_ptr<Sequence>> Resume(
    Engine& engine, std::vector<std::unique_ptr<Sequence>> waiting) {
  std::vector<std::unique_ptr<Sequence>> left;
  for (auto& sequence : waiting) {
    if (!left.empty() || !engine.TryReserve(*sequence)) {
      left.push_back(std::move(sequence));
      continue;
    }
    Sequence* raw = sequence.get();
    if (raw->num_decided() == 0) engine.EncodeImages(std::span(&raw, 1));
    engine.Prefill(std::span(&raw, 1));
    engine.Submit(std::move(sequence));
  }
  return left;
}

// Runs one request from start to end. Decided tokens, stop token included, are in
// sequence->tokens after the prompt.
inline std::unique_ptr<Sequence> RunToEnd(Engine& engine, Request request) {
  Start(engine, std::move(request));
  for (;;) {
    auto finished = engine.Step();
    if (!finished.empty()) return std::move(finished.front());
  }
}

inline std::vector<TokenId> Decided(const Sequence& s) {
  return {s.tokens.begin() + s.prompt_len(), s.tokens.end()};
}

}  // namespace platen::testing
