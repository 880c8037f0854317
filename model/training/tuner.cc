#include "model/training/tuner.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "model/checkpoint/safetensors_writer.h"
#include "model/engine/random_stream.h"
#include "model/support/clock.h"
#include "model/support/error.h"
#include "model/support/hash.h"
#include "model/training/tuner_files.h"

namespace platen {
namespace {

constexpr const char* kPurposes[] = {"value.", "mean.", "square.", "start."};

Objective ObjectiveOf(const TuneOptions& options) {
  Objective objective;
  objective.step_weights = DecayingStepWeights(options.steps_of_chain);
  objective.labels = options.labels;
  objective.vocabulary = options.vocabulary;
  return objective;
}

// Order of n things in an epoch.
std::vector<size_t> Shuffled(size_t n, uint64_t seed, int64_t epoch) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  NoiseAt noise(seed, epoch, Noise::kPlain);
  for (size_t i = n; i > 1; --i) {
    const auto j =
        static_cast<size_t>(noise.Uniform(static_cast<uint32_t>(n - i)) * static_cast<double>(i));
    std::swap(order[i - 1], order[j]);
  }
  return order;
}

int64_t FirstRows(const TrainingPage& page) { return RowsOfStep(page.prompt, page.length(), 0); }

}  // namespace

Tuner::Tuner(Parameters<float>& parameters, EngineDraft& exact, EngineDraft& deployed,
             const std::vector<TrainingPage>& pages, const TuneOptions& options,
             const Folder& folder, std::map<std::string, std::string> metadata)
    : parameters_(parameters),
      exact_(exact),
      deployed_(deployed),
      options_(options),
      folder_(folder),
      metadata_(std::move(metadata)),
      objective_(ObjectiveOf(options)),
      head_(exact.stored_head(), parameters.shape().logit_softcap, options.vocabulary,
            ExactLogits()),
      gradient_(
          parameters, head_, ChainOn::kNormed,
          [this](std::span<const TokenId> ids) { return exact_.Embed(ids); },
          [this](const TrainingPage& page, std::vector<Matrix<float>>& vectors) {
            exact_.Vectors(page, objective_.steps(), vectors);
          }),
      optimiser_(options.recipe, parameters) {
  const std::map<std::string, Part> parts = SplitDocuments(pages, options.seed);
  for (const TrainingPage& page : pages) {
    if (FirstRows(page) == 0) continue;
    const Part part = parts.at(page.document);
    if (part == Part::kTrain) train_.push_back(&page);
    if (part == Part::kChoose) choose_.push_back(&page);
  }
  if (train_.empty() || choose_.empty()) {
    throw Error(
        ErrorKind::kInput, {},
        "three documents are needed, of some words each: to train on, to choose by, to judge; "
        "record more");
  }
  fingerprint_ = Fingerprint();
  if (Resume()) return;
  exact_.Load(parameters_);
  start_value_ = best_value_ = Evaluate();
  SaveBest();
}

// Those of the engine; of a part of the vocabulary the products are the trainer's own.
FrozenHead<float>::Exact Tuner::ExactLogits() {
  if (!options_.vocabulary.empty()) return {};
  return [this](ConstView<float> x, View<float> logits) { exact_.Logits(x, logits); };
}

// Of everything that decides what the steps give.
std::string Tuner::Fingerprint() const {
  Hasher hasher;
  const Recipe& r = options_.recipe;
  for (const double number :
       {static_cast<double>(r.steps), static_cast<double>(r.warm_up), r.peak_rate, r.beta1, r.beta2,
        r.eps, r.decay, static_cast<double>(r.decay_to), r.clip,
        static_cast<double>(options_.steps_of_chain), static_cast<double>(options_.labels),
        static_cast<double>(options_.rows_per_step), static_cast<double>(options_.evaluate_every),
        static_cast<double>(options_.seed)}) {
    hasher.Add(Exactly(number));
  }
  for (const auto* part : {&train_, &choose_}) {
    for (const TrainingPage* page : *part) {
      hasher.Add(page->document + "\n" + page->place);
      hasher.Add({reinterpret_cast<const char*>(page->ids.data()),
                  page->ids.size() * sizeof(page->ids[0])});
    }
  }
  for (const TokenId id : options_.vocabulary) hasher.Add(std::to_string(id));
  const std::vector<float> values = ValuesOf(parameters_);
  hasher.Add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  return hasher.Hex();
}

bool Tuner::Resume() {
  if (!folder_.Look(kCheckpoint)) return false;
  const Checkpoint file = OpenToGoOn(folder_, kCheckpoint);
  const auto fact = [&](const char* key) {
    const auto found = file.metadata().find(key);
    return found == file.metadata().end() ? std::string() : found->second;
  };
  if (fact("fingerprint") != fingerprint_) {
    RefuseToGoOn({.file = folder_.PathOf(kCheckpoint), .field = {}},
                 "was made with other options, pages or weights");
  }
  OpenToGoOn(folder_, kBestFile);  // better ones may never come
  std::vector<float> values;
  AdamW<float>::State state;
  ReadTensors(file, parameters_.shape(), kPurposes[0], values);
  ReadTensors(file, parameters_.shape(), kPurposes[1], state.mean);
  ReadTensors(file, parameters_.shape(), kPurposes[2], state.square);
  ReadTensors(file, parameters_.shape(), kPurposes[3], state.start);
  const auto steps = [&](const char* key, int64_t most) {
    return StepsIn(fact(key), {.file = folder_.PathOf(kCheckpoint), .field = key}, most);
  };
  state.steps_done = steps("steps", options_.recipe.steps);
  start_value_ = std::strtod(fact("start").c_str(), nullptr);
  best_value_ = std::strtod(fact("best").c_str(), nullptr);
  best_step_ = steps("best_step", state.steps_done);
  SetValues(values, parameters_);
  optimiser_.Restore(std::move(state));
  for (int64_t step = 0; step < optimiser_.steps_done(); ++step) NextBatch();
  exact_.Load(parameters_);
  return true;
}

void Tuner::Save() const {
  const std::vector<float> values = ValuesOf(parameters_);
  const AdamW<float>::State state = optimiser_.state();
  std::vector<StoredTensor> tensors;
  AddTensors(parameters_.shape(), kPurposes[0], values, tensors);
  AddTensors(parameters_.shape(), kPurposes[1], state.mean, tensors);
  AddTensors(parameters_.shape(), kPurposes[2], state.square, tensors);
  AddTensors(parameters_.shape(), kPurposes[3], state.start, tensors);
  WriteSafetensors(folder_, kCheckpoint, tensors,
                   {{"fingerprint", fingerprint_},
                    {"steps", std::to_string(state.steps_done)},
                    {"start", Exactly(start_value_)},
                    {"best", Exactly(best_value_)},
                    {"best_step", std::to_string(best_step_)}});
}

void Tuner::SaveBest() const {
  const std::vector<float> values = ValuesOf(parameters_);
  std::vector<StoredTensor> tensors;
  AddTensors(parameters_.shape(), "", values, tensors);
  std::map<std::string, std::string> metadata = metadata_;
  metadata["platen.step"] = std::to_string(best_step_);
  WriteSafetensors(folder_, kBestFile, tensors, metadata);
}

double Tuner::Evaluate() {
  deployed_.Load(parameters_);
  Rounds rounds;
  for (const TrainingPage* page : choose_) {
    const PageHits hits = HitsOf(*page, objective_.steps(), deployed_, options_.vocabulary);
    rounds.Add(Replay(hits, objective_.steps()));
  }
  return rounds.tokens_per_round();
}

// Pages in the order of their epoch, from where the step before ended; an epoch ends with its step.
std::vector<const TrainingPage*> Tuner::NextBatch() {
  std::vector<const TrainingPage*> batch;
  for (int64_t rows = 0; rows < options_.rows_per_step && batch.size() < train_.size();) {
    if (next_page_ == order_.size()) {
      order_ = Shuffled(train_.size(), options_.seed, epoch_++);
      next_page_ = 0;
      if (!batch.empty()) break;
    }
    batch.push_back(train_[order_[next_page_++]]);
    rows += FirstRows(*batch.back());
  }
  return batch;
}

TuneStep Tuner::Step() {
  const int64_t start_ns = MonotonicNs();
  TuneStep result;
  result.step = optimiser_.steps_done() + 1;
  const std::vector<const TrainingPage*> batch = NextBatch();
  parameters_.ClearGradients();
  const BatchLoss loss = gradient_.Run(batch, objective_);
  result.loss = loss.total;
  result.loss_of_draft = loss.of_step;
  result.rate = RateOf(options_.recipe, result.step);
  const double norm = GradientNorm(parameters_);
  if (!std::isfinite(loss.total) || !std::isfinite(norm)) {
    throw Error(ErrorKind::kModel, {},
                "step " + std::to_string(result.step) +
                    " has a loss or a gradient that is no number; use a smaller --rate");
  }
  result.gradient_norm = optimiser_.Step(parameters_);
  exact_.Load(parameters_);
  if (result.step % options_.evaluate_every == 0 || done()) {
    result.tokens_per_round = Evaluate();
    if (result.tokens_per_round > best_value_) {
      best_value_ = result.tokens_per_round;
      best_step_ = result.step;
      result.best = true;
      SaveBest();
    }
    Save();
  }
  result.seconds = SecondsSince(start_ns);
  return result;
}

void Tuner::TakeBest() {
  const Checkpoint file = Checkpoint::OpenFile(folder_.PathOf(kBestFile));
  std::vector<float> values;
  ReadTensors(file, parameters_.shape(), "", values);
  SetValues(values, parameters_);
}

}  // namespace platen
