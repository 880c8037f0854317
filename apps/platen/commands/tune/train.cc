// platen tune-mtp train.

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/interrupt.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/commands/tune/tune_programs.h"
#include "apps/platen/commands/tune/tune_session.h"
#include "model/families/draft_weights.h"
#include "model/support/atomic_file.h"
#include "model/support/clock.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/training/products.h"
#include "model/training/random_start.h"
#include "model/training/tuner.h"
#include "pipeline/run_lock.h"

namespace platen {
namespace {

TuneOptions OptionsFrom(const Settings& settings, int most_steps) {
  TuneOptions options;
  Recipe& recipe = options.recipe;
  recipe.steps = settings.Integer("steps");
  recipe.warm_up = std::max<int64_t>(1, std::llround(0.05 * static_cast<double>(recipe.steps)));
  recipe.peak_rate = settings.Number("rate");
  recipe.decay = settings.Number("decay");
  recipe.decay_to = Recipe::DecayTo::kStart;
  recipe.clip = settings.Number("clip");
  options.steps_of_chain = std::min(static_cast<int>(settings.Integer("drafts")), most_steps);
  options.labels = settings.Text("labels") == "soft" ? Labels::kSoft : Labels::kHard;
  options.rows_per_step = settings.Integer("rows");
  options.evaluate_every = static_cast<int>(settings.Integer("evaluate-every"));
  options.seed = static_cast<uint64_t>(settings.Integer("seed"));
  return options;
}

// The target's own epsilon, which heads that are new take over.
double NormEpsOf(const TuneSession& session) {
  const std::optional<DraftShape> own = session.snapshot.architecture->Draft();
  constexpr double kUsual = 1e-5;
  return own ? own->norm_eps : kUsual;
}

DraftShape ShapeFrom(const Settings& settings, const TuneSession& session) {
  const auto heads = static_cast<int>(settings.Integer("heads"));
  const std::string& from = settings.Text("from");
  if (heads == 0) {
    return from.empty() ? session.OwnShape() : ShapeOfFile(session, from);
  }
  const int64_t width = session.snapshot.architecture->text().hidden_size;
  const int64_t inner = settings.Integer("head-size");
  return ResidualHeadsShape(heads, width, inner > 0 ? inner : width, NormEpsOf(session),
                            Activation::kSilu);
}

void ReadStart(const Checkpoint& file, Parameters<float>& parameters) {
  for (size_t t = 0; t < parameters.shape().tensors.size(); ++t) {
    const DraftTensor& tensor = parameters.shape().tensors[t];
    const StoredTensor* stored = file.Find(tensor.name);
    if (stored == nullptr || stored->shape != tensor.shape) {
      throw Error(ErrorKind::kModel, {.file = {}, .field = tensor.name},
                  "is missing in the weights to begin with, or has another shape");
    }
    WidenToF32(*stored, parameters.values(t));
  }
}

// The model's own tensors by the names of its table or their aliases.
void ReadOwn(const TuneSession& session, Parameters<float>& parameters) {
  const ModuleTable table = session.snapshot.Modules();
  for (size_t t = 0; t < parameters.shape().tensors.size(); ++t) {
    const StoredTensor* stored = nullptr;
    for (const Module& module : table.modules()) {
      for (const auto* specs : {&module.weights, &module.biases}) {
        for (const TensorSpec& spec : *specs) {
          if (spec.name == parameters.shape().tensors[t].name) {
            stored = FindTensor(session.snapshot.checkpoint, spec);
          }
        }
      }
    }
    if (stored == nullptr) {
      throw Error(ErrorKind::kModel,
                  {.file = session.snapshot.dir, .field = parameters.shape().tensors[t].name},
                  "is not where the family says");
    }
    WidenToF32(*stored, parameters.values(t));
  }
}

Parameters<float> StartFrom(const Settings& settings, const TuneSession& session,
                            const DraftShape& shape) {
  Parameters<float> parameters(shape);
  const std::string& from = settings.Text("from");
  if (!from.empty()) {
    ReadStart(Checkpoint::OpenFile(from), parameters);
  } else if (settings.Flag("fresh") || settings.Integer("heads") > 0) {
    Randomise(static_cast<uint64_t>(settings.Integer("seed")), parameters);
  } else {
    ReadOwn(session, parameters);
  }
  return parameters;
}

std::map<std::string, std::string> FactsOfFile(const TuneSession& session,
                                               const DraftShape& shape) {
  std::map<std::string, std::string> metadata = MetadataOf(shape);
  metadata[DraftFileFacts::kBaseModel] = session.recorded.with.base_model;
  metadata[DraftFileFacts::kConvention] = "default";
  return metadata;
}

std::string LineOf(const TuneStep& step) {
  nlohmann::ordered_json json = {{"step", step.step},
                                 {"loss", step.loss},
                                 {"loss_of_draft", step.loss_of_draft},
                                 {"rate", step.rate},
                                 {"gradient_norm", step.gradient_norm},
                                 {"seconds", step.seconds}};
  if (step.tokens_per_round >= 0) json["tokens_per_round"] = step.tokens_per_round;
  return json.dump() + "\n";
}

void Show(const TuneStep& step, const TuneOptions& options, double seconds_left) {
  std::string text =
      fmt::format("step {} of {}: loss {:.4f}", step.step, options.recipe.steps, step.loss);
  if (step.tokens_per_round >= 0) {
    text += fmt::format(", {:.3f} tokens a round{}", step.tokens_per_round,
                        step.best ? " (the best so far)" : "");
  }
  Log(LogLevel::kInfo, text + fmt::format(", about {:.0f} s left", seconds_left));
}

void LogStart(const Tuner& tuner, const TuneOptions& options) {
  Log(LogLevel::kInfo,
      fmt::format("training for {} with OpenBLAS ({}); {:.3f} tokens a round before",
                  Counted(options.steps_of_chain, "draft"), BlasCore(),
                  tuner.start_tokens_per_round()));
}

// True: to the end; false: interrupted, and saved.
bool TrainSteps(Tuner& tuner, const TuneOptions& options, const Folder& folder) {
  const UniqueFd log = OpenOwn(folder, WorkFolder::kLog, O_RDWR | O_CREAT | O_APPEND);
  const int64_t start_ns = MonotonicNs();
  int64_t done_here = 0;
  while (!tuner.done()) {
    const TuneStep step = tuner.Step();
    ++done_here;
    WriteAll(log.get(), LineOf(step), folder.PathOf(WorkFolder::kLog));
    const double each = SecondsSince(start_ns) / static_cast<double>(done_here);
    if (step.tokens_per_round >= 0 || done_here == 1) {
      Show(step, options, each * static_cast<double>(options.recipe.steps - step.step));
    }
    if (Interrupted() && !tuner.done()) {
      tuner.Save();
      return false;
    }
  }
  return true;
}

// A full disk, say, is no reason to begin anew.
bool TrainOrSayHowToGoOn(Tuner& tuner, const TuneOptions& options, const Folder& folder) {
  try {
    return TrainSteps(tuner, options, folder);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kEnvironment) throw;
    throw Error(e.kind(), e.location(),
                e.reason() + "; the same command goes on from the last checkpoint", e.code());
  }
}

}  // namespace

int RunTrain(const Settings& settings) {
  const TuneSession session(settings);
  const DraftShape shape = ShapeFrom(settings, session);
  TuneOptions options = OptionsFrom(settings, MostSteps(shape));
  options.vocabulary = session.VocabularyFrom(settings);
  if (!options.vocabulary.empty() && options.labels == Labels::kSoft) {
    throw Error(ErrorKind::kUsage, {.file = {}, .field = "--draft-vocabulary"},
                "is for --labels hard: soft labels name tokens outside of it");
  }
  Parameters<float> parameters = StartFrom(settings, session, shape);
  EngineDraft exact(session.snapshot, shape, session.kernels, Precision::kF32);
  EngineDraft deployed(session.snapshot, shape, session.kernels, session.precision());
  CatchInterrupts();
  const Folder folder = session.work.Train(Folder::Missing::kCreate);
  // Two trainings would write each other's weights over.
  const RunLock alone(folder, folder, {});
  Tuner tuner(parameters, exact, deployed, session.recorded.pages, options, folder,
              FactsOfFile(session, shape));
  session.KeepSeen(options.seed);
  LogStart(tuner, options);
  if (!TrainOrSayHowToGoOn(tuner, options, folder)) {
    Log(LogLevel::kWarning, "interrupted; the same command goes on from here");
    return kExitInterrupted;
  }
  fmt::print(
      "before    {:.3f} tokens a round, on the documents that choose\n"
      "best      {:.3f}, after step {}\n"
      "weights   {}\n"
      "next      platen tune-mtp evaluate {}\n",
      tuner.start_tokens_per_round(), tuner.best_tokens_per_round(), tuner.best_step(),
      DisplayName(folder.PathOf(Tuner::kBestFile)), DisplayName(session.work.folder().path()));
  return kExitDone;
}

}  // namespace platen
