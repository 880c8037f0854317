#include "apps/platen/commands/ocr/reading_model.h"

#include <algorithm>

#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/commands/ocr/decoding_settings.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "apps/platen/commands/ocr/reading_settings.h"
#include "apps/platen/commands/ocr/result_settings.h"
#include "model/families/reading_config.h"
#include "model/support/clock.h"
#include "model/support/error.h"
#include "pipeline/model_id.h"

namespace platen {
namespace {

// Throws Error(kUsage) for a drafter that this model does not have.
LoadedModel LoadModel(const Settings& settings, int64_t kv_cache_bytes) {
  const int64_t start_ns = MonotonicNs();
  const double start_cpu_s = ProcessCpuSeconds();
  LoadedModel loaded;
  loaded.dir = LocateModel(settings.Text("model"));
  loaded.model = LoadModelFrom(settings, loaded.dir);
  loaded.id = ModelId(*loaded.model);
  loaded.engine = std::make_unique<Engine>(
      *loaded.model, EngineOptionsFrom(settings, *loaded.model, kv_cache_bytes));
  loaded.wall_s = SecondsSince(start_ns);
  loaded.cpu_s = ProcessCpuSeconds() - start_cpu_s;
  return loaded;
}

void WarnOfUntrainedTask(const ReadingConfig& reading, const std::string& task) {
  const auto& tasks = reading.tasks;
  if (tasks.empty() || std::find(tasks.begin(), tasks.end(), task) != tasks.end()) return;
  Log(LogLevel::kWarning, "this model was not trained for --task " + task +
                              "; expect nothing useful (a GLM-OCR snapshot reads text, tables and "
                              "formulas)");
}

// What stands in the outputs: what was taken, not "auto".
Recognition RecognitionOf(InputKind kind, const Settings& settings, const ReadingModel& model) {
  const LoadedModel& loaded = model.loaded;
  const ReadingConfig& reading = loaded.model->snapshot().reading;
  Recognition recognition;
  recognition.settings = ResultSettingsOf(
      OcrOptions(), settings, kind,
      {{"model", loaded.id},
       {"layout-model", model.layout.id},
       {"granularity", GranularityName(model.read.granularity.value_or(reading.granularity))},
       {"precision", PrecisionName(loaded.model->precision())},
       {"attention", VisionAttentionName(loaded.model->attention())}});
  recognition.fingerprint = FingerprintOf(recognition.settings);
  return recognition;
}

// Drafts are trained for what greedy decoding says.
std::unique_ptr<DraftRecorder> RecorderFrom(const Settings& settings, const Model& model) {
  const std::string& folder = settings.Text("record-drafts");
  if (folder.empty()) return nullptr;
  if (!SamplingFrom(settings).greedy()) {
    throw Error(ErrorKind::kUsage, {"", "--record-drafts"}, "needs --temperature 0");
  }
  return std::make_unique<DraftRecorder>(model, folder, settings.Integer("record-mib") << 20);
}

EngineRecognizer::OnFinished OnFinishedOf(DraftRecorder* recorder) {
  if (recorder == nullptr) return {};
  return [recorder](const Sequence& sequence, const CropSequence& crop) {
    recorder->Record(sequence, crop);
  };
}

}  // namespace

ReadingModel::ReadingModel(const Settings& settings, const Resources& resources)
    : loaded(LoadModel(settings, resources.kv_cache_bytes)),
      read(ReadOptionsFrom(settings, loaded.model->snapshot().reading)),
      layout(ChooseLayout(settings.Text("layout-model"), loaded.dir, BoxRulesFrom(settings),
                          loaded.model->kernels())),
      recorder(RecorderFrom(settings, *loaded.model)),
      recognizer(std::make_unique<EngineRecognizer>(*loaded.model, *loaded.engine,
                                                    OnFinishedOf(recorder.get()))) {
  if (!layout.warning.empty()) Log(LogLevel::kWarning, layout.warning);
  read.sampling = SamplingFrom(settings);
  read.text_layer = TextLayerFrom(settings.Text("text-layer"), read.task);
  WarnOfUntrainedTask(loaded.model->snapshot().reading, settings.Text("task"));
}

ResultIdentity IdentityOf(const Settings& settings, const Job& job, const ReadingModel& model) {
  ResultIdentity identity;
  identity.images = RecognitionOf(InputKind::kImage, settings, model);
  identity.pdfs = RecognitionOf(InputKind::kPdf, settings, model);
  identity.formats = job.target.formats();
  identity.rendering = RenderingOf(OcrOptions(), settings);
  identity.names_outputs = !settings.Text("images").empty();
  identity.verify_inputs = settings.Flag("verify-inputs");
  return identity;
}

}  // namespace platen
