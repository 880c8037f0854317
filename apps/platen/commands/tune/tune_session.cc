#include "apps/platen/commands/tune/tune_session.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "model/checkpoint/packed_weights.h"
#include "model/engine/engine_options.h"
#include "model/families/draft_weights.h"
#include "model/kernels/gemm_schedule.h"
#include "model/support/atomic_file.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/support/json_fields.h"
#include "pipeline/hardware.h"

namespace platen {
namespace {

constexpr const char* kSeen = "seen.json";
constexpr size_t kMostSeenBytes = 256 << 20;

std::string ModelDir(const Settings& settings, const WorkFolder& work) {
  const std::string& named = settings.Text("model");
  const std::string kept = work.Model();
  return LocateModel(named.empty() && !kept.empty() ? kept : named);
}

Snapshot LoadFor(const Settings& settings, const WorkFolder& work) {
  LimitThreads(ThreadsFrom(settings));
  return LoadSnapshot(ModelDir(settings, work));
}

}  // namespace

TuneSession::TuneSession(const Settings& settings)
    : work(settings.positional()[0], Folder::Missing::kFail),
      snapshot(LoadFor(settings, work)),
      kernels(BestKernels()),
      recorded(ReadRecords(work.records(), UsableMemoryBytes() / 2)) {
  if (recorded.with.base_model != WeightsHash(snapshot.checkpoint)) {
    throw Error(ErrorKind::kInput, {.file = work.records(), .field = {}},
                "was recorded with other weights than those of " + snapshot.dir);
  }
  if (recorded.damaged > 0) {
    Log(LogLevel::kWarning, work.records() + ": " + Counted(recorded.damaged, "file") +
                                " with a torn end, as a run that was killed leaves it; what is "
                                "behind it is not used");
  }
}

void TuneSession::KeepSeen(uint64_t seed) const {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto& [document, part] : SplitDocuments(recorded.pages, seed)) {
    if (part != Part::kJudge) json.push_back(document);
  }
  const Folder folder = work.Train(Folder::Missing::kCreate);
  AtomicFile file(folder, std::string(".") + kSeen + ".tmp", folder, kSeen);
  file.Append(json.dump(1) + "\n");
  file.Commit();
}

std::vector<const TrainingPage*> TuneSession::UnseenPages(uint64_t seed) const {
  std::set<std::string> seen;
  const bool trained = work.folder().Look("train").has_value();
  if (trained && work.Train(Folder::Missing::kFail).Look(kSeen)) {
    const std::string path = work.Train(Folder::Missing::kFail).PathOf(kSeen);
    const nlohmann::json json =
        WithErrorKind(ErrorKind::kInput, [&] { return ReadJsonFile(path, kMostSeenBytes); });
    if (json.is_array()) {
      for (const auto& name : json) {
        if (name.is_string()) seen.insert(name.get<std::string>());
      }
    }
  } else {
    for (const auto& [document, part] : SplitDocuments(recorded.pages, seed)) {
      if (part != Part::kJudge) seen.insert(document);
    }
  }
  std::vector<const TrainingPage*> pages;
  for (const TrainingPage& page : recorded.pages) {
    if (!seen.contains(page.document)) pages.push_back(&page);
  }
  return pages;
}

Precision TuneSession::precision() const { return PrecisionNamed(recorded.with.precision); }

DraftShape TuneSession::OwnShape() const {
  std::optional<DraftShape> shape = snapshot.architecture->Draft();
  if (shape) return std::move(*shape);
  throw Error(ErrorKind::kModel, {.file = snapshot.dir, .field = {}},
              "has nothing to draft with; train heads for it: --heads 3");
}

DraftShape ShapeOfFile(const TuneSession& session, const Checkpoint& file) {
  int heads = 0;
  const auto name = [&] { return "mtp_layers." + std::to_string(heads) + ".gate_proj.weight"; };
  while (file.Find(name()) != nullptr) ++heads;
  const auto eps = file.metadata().find(DraftFileFacts::kNormEps);
  if (heads == 0 || eps == file.metadata().end()) return session.OwnShape();
  const auto activation = file.metadata().find(DraftFileFacts::kActivation);
  const bool relu2 = activation != file.metadata().end() && activation->second == "relu2";
  return ResidualHeadsShape(heads, session.snapshot.architecture->text().hidden_size,
                            file.Find("mtp_layers.0.gate_proj.weight")->shape.front(),
                            std::strtod(eps->second.c_str(), nullptr),
                            relu2 ? Activation::kRelu2 : Activation::kSilu);
}

int MostSteps(const DraftShape& shape) {
  return shape.heads.empty() ? kMaxDraftLength : static_cast<int>(shape.heads.size());
}

namespace {

DraftShape ShapeAt(const TuneSession& session, const std::string& path) {
  return path.empty() ? session.OwnShape() : ShapeOfFile(session, Checkpoint::OpenFile(path));
}

}  // namespace

LoadedDraft::LoadedDraft(const TuneSession& session, const std::string& path)
    : shape(ShapeAt(session, path)),
      draft(session.snapshot, shape, session.kernels, session.precision()) {
  if (path.empty()) {
    draft.LoadOwn();
  } else {
    draft.Load(Checkpoint::OpenFile(path));
  }
}

}  // namespace platen
