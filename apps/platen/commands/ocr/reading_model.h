// A model and what is around it, from the settings to the engine behind the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/platen/cli/settings.h"
#include "apps/platen/commands/ocr/job.h"
#include "apps/platen/commands/ocr/resources.h"
#include "model/engine/engine.h"
#include "model/families/model.h"
#include "pipeline/draft_recorder.h"
#include "pipeline/engine_recognizer.h"
#include "pipeline/known_documents.h"
#include "pipeline/layout_choice.h"

namespace platen {

struct LoadedModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<Engine> engine;
  std::string dir;
  std::string id;
  double wall_s = 0;
  double cpu_s = 0;
};

struct ReadingModel {
  // Loads it, and warns of what it was not trained for. Throws Error: kUsage for options that this
  // model does not have.
  ReadingModel(const Settings& settings, const Resources& resources);

  LoadedModel loaded;
  ReadOptions read;
  LayoutChoice layout;
  std::unique_ptr<DraftRecorder> recorder;  // none: nothing is recorded
  std::unique_ptr<EngineRecognizer> recognizer;
};

// By what results of the run are known.
ResultIdentity IdentityOf(const Settings& settings, const Job& job, const ReadingModel& model);

}  // namespace platen
