#include "apps/platen/commands/tune/tune_session.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "model/checkpoint/packed_weights.h"
#include "model/engine/drafters/draft_vocabulary.h"
#include "model/engine/engine_options.h"
#include "model/families/draft_weights.h"
#include "model/kernels/gemm_schedule.h"
#include "model/support/display_text.h"
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

// A run that was killed leaves a torn record, and whoever goes on records that region again. What
// is damaged in another way is lost, unless it is recorded again.
void WarnOfDamage(const RecordedPages& pages, const std::string& folder) {
  if (pages.torn > 0) {
    Log(LogLevel::kWarning,
        DisplayName(folder) + ": " + Counted(pages.torn, "file") +
            " ending within a record, as a run that was killed leaves it; the last " +
            SizeText(pages.torn_bytes) + " are not used");
  }
  if (pages.damaged > 0) {
    Log(LogLevel::kWarning, DisplayName(folder) + ": " + Counted(pages.damaged, "record") +
                                " damaged and left out; platen tune-mtp record --force makes all "
                                "of them again");
  }
}

using Parts = std::map<std::string, Part>;  // of documents, by name

std::set<std::string> SeenIn(const Parts& parts) {
  std::set<std::string> seen;
  for (const auto& [document, part] : parts) {
    if (part != Part::kJudge) seen.insert(document);
  }
  return seen;
}

void LogLeftOut(const Parts& parts) {
  const auto left_out = std::count_if(
      parts.begin(), parts.end(), [](const auto& part) { return part.second == Part::kLeftOut; });
  if (left_out == 0) return;
  Log(LogLevel::kInfo, Counted(left_out, "document") + " left out: nearly the same as others");
}

}  // namespace

TuneSession::TuneSession(const Settings& settings)
    : work(settings.positional()[0], Folder::Missing::kFail),
      snapshot(LoadFor(settings, work)),
      kernels(BestKernels()),
      recorded(Records(work.records())) {}

std::vector<TokenId> TuneSession::VocabularyFrom(const Settings& settings) const {
  const std::string& path = settings.Text("draft-vocabulary");
  if (path.empty()) return {};
  const int vocab_size = snapshot.architecture->text().vocab_size;
  std::vector<TokenId> ids = ReadDraftVocabulary(path, vocab_size);
  const auto& stop = snapshot.architecture->tokens().stop;
  ids.insert(ids.end(), stop.begin(), stop.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

RecordedPages TuneSession::Records(const std::string& folder) const {
  RefuseUnrecorded(folder);
  RecordedPages pages = ReadRecords(folder, UsableMemoryBytes() / 2);
  if (pages.with.base_model != WeightsHash(snapshot.checkpoint)) {
    throw Error(ErrorKind::kInput, {.file = folder, .field = {}},
                "was recorded with other weights than those of " + snapshot.dir);
  }
  WarnOfDamage(pages, folder);
  return pages;
}

std::set<std::string> TuneSession::SeenBySplit(uint64_t seed) const {
  return SeenIn(SplitDocuments(recorded.pages, seed));
}

void TuneSession::KeepSeen(uint64_t seed) const {
  const Folder folder = work.Train(Folder::Missing::kCreate);
  const Parts parts = SplitDocuments(recorded.pages, seed);
  WriteJson(folder, kSeen, nlohmann::json(SeenIn(parts)));
  LogLeftOut(parts);
}

std::set<std::string> TuneSession::Seen(uint64_t seed) const {
  if (!work.folder().Look("train")) return SeenBySplit(seed);
  const Folder folder = work.Train(Folder::Missing::kFail);
  if (!folder.Look(kSeen)) return SeenBySplit(seed);
  const std::string path = folder.PathOf(kSeen);
  const nlohmann::json json =
      WithErrorKind(ErrorKind::kInput, [&] { return ReadJsonFile(path, kMostSeenBytes); });
  const auto is_name = [](const nlohmann::json& name) { return name.is_string(); };
  if (!json.is_array() || !std::all_of(json.begin(), json.end(), is_name)) {
    throw Error(ErrorKind::kInput, {.file = path, .field = {}},
                "must be a list of names; without it nobody can tell what was trained on");
  }
  return json.get<std::set<std::string>>();
}

std::vector<const TrainingPage*> TuneSession::UnseenPages(uint64_t seed) const {
  const std::set<std::string> seen = Seen(seed);
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

DraftShape ShapeOfFile(const TuneSession& session, const std::string& path) {
  const Checkpoint file = Checkpoint::OpenFile(path);
  const std::optional<DraftShape> own = session.snapshot.architecture->Draft();
  const bool has_own_heads = own && !own->heads.empty();
  const auto heads =
      HeadsIn(file, path, session.snapshot.architecture->text().hidden_size, has_own_heads);
  if (!heads) return session.OwnShape();
  return ResidualHeadsShape(heads->count, heads->hidden_size, heads->inner_size,
                            static_cast<double>(heads->norm_eps), heads->activation);
}

int MostSteps(const DraftShape& shape) {
  return shape.heads.empty() ? kMaxDraftLength : static_cast<int>(shape.heads.size());
}

namespace {

DraftShape ShapeAt(const TuneSession& session, const std::string& path) {
  return path.empty() ? session.OwnShape() : ShapeOfFile(session, path);
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
