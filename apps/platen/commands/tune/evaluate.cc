// platen tune-mtp evaluate.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/commands/tune/evaluation_report.h"
#include "apps/platen/commands/tune/tune_programs.h"
#include "apps/platen/commands/tune/tune_session.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/support/hash.h"
#include "model/support/mapped_file.h"
#include "model/training/draft_gate.h"
#include "model/training/tuner.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

// The documents of which nothing is known to training.
std::vector<const TrainingPage*> PagesFrom(const Settings& settings, const TuneSession& session) {
  const auto seed = static_cast<uint64_t>(settings.Integer("seed"));
  if (settings.Text("part") == "judge") return session.UnseenPages(seed);
  std::vector<const TrainingPage*> pages;
  for (const TrainingPage& page : session.recorded.pages) pages.push_back(&page);
  return pages;
}

// Weights that a round reads: of the target with its head, and of each draft. A draft that chooses
// among a part of the vocabulary reads that part of the head.
RoundCost CostOf(const TuneSession& session, const DraftShape* shape, size_t vocabulary) {
  double target = 0, head = 0, layer = 0;
  const ModuleTable modules = session.snapshot.Modules();
  for (const Module& module : modules.modules()) {
    if (!module.is_linear()) continue;
    const double weights = static_cast<double>(module.num_weights()) * module.share_of_rows;
    if (module.rows_of == RowsOf::kToken) target += weights;
    if (module.rows_of == RowsOf::kLogits) head += weights;
  }
  if (shape == nullptr) return {target + head, 0};
  for (const DraftTensor& tensor : shape->tensors) {
    if (tensor.is_matrix()) layer += static_cast<double>(tensor.size());
  }
  const auto heads = static_cast<double>(std::max<size_t>(1, shape->heads.size()));
  const auto all = static_cast<double>(session.snapshot.architecture->text().vocab_size);
  const double share = vocabulary == 0 ? 1 : static_cast<double>(vocabulary) / all;
  return {target + head, layer / heads + share * head};
}

// No guess of so many steps is right.
PageHits NoneRight(const TrainingPage& page, int steps) {
  PageHits hits = {page.document, page.length() - page.prompt, {}};
  for (int d = 0; d < steps; ++d) {
    hits.hits.emplace_back(static_cast<size_t>(RowsOfStep(page.prompt, page.length(), d)));
  }
  return hits;
}

using HitsOfPage = std::function<PageHits(const TrainingPage& page)>;
Side Look(const std::string& name, int steps, const RoundCost& cost, const HitsOfPage& hits_of,
          const std::vector<const TrainingPage*>& pages, const std::vector<TrainingPage>& general) {
  Side side = {name, steps, {}, {}, {}, cost};
  for (const TrainingPage* page : pages) side.hits.push_back(hits_of(*page));
  for (const TrainingPage& page : general) side.general.push_back(hits_of(page));
  side.acceptance = AcceptanceOf(side.hits, steps);
  return side;
}

// A model that drafts nothing.
Side WithoutDrafts(int steps, const TuneSession& session,
                   const std::vector<const TrainingPage*>& pages,
                   const std::vector<TrainingPage>& general) {
  return Look(
      "before", steps, CostOf(session, nullptr, 0),
      [&](const TrainingPage& page) { return NoneRight(page, steps); }, pages, general);
}

Side LookAtFile(const Settings& settings, const std::string& name, const std::string& path,
                const TuneSession& session, const std::vector<const TrainingPage*>& pages,
                const std::vector<TrainingPage>& general) {
  LoadedDraft loaded(session, path);
  const int steps = MostSteps(loaded.shape);
  const std::vector<TokenId> vocabulary = session.VocabularyFrom(settings);
  return Look(
      name, steps, CostOf(session, &loaded.shape, vocabulary.size()),
      [&](const TrainingPage& page) { return HitsOf(page, steps, loaded.draft, vocabulary); },
      pages, general);
}

std::string HashOfFile(const std::string& path) {
  const MappedFile file(path);
  return HashHex({reinterpret_cast<const char*>(file.data().data()), file.data().size()});
}

// Records of pages of other kinds: of the folder that is named, or general/ in the work folder.
std::string GeneralFolder(const Settings& settings, const TuneSession& session) {
  const std::string& named = settings.Text("general");
  if (!named.empty()) return WorkFolder(named, Folder::Missing::kFail).records();
  if (!session.work.folder().Look(WorkFolder::kGeneral)) return "";
  const std::string general = session.work.folder().PathOf(WorkFolder::kGeneral);
  return WorkFolder(general, Folder::Missing::kFail).records();
}

}  // namespace

int RunEvaluate(const Settings& settings) {
  const TuneSession session(settings);
  std::string head = settings.Text("head");
  if (head.empty()) {
    const Folder train = session.work.Train(Folder::Missing::kFail);
    head = train.PathOf(Tuner::kBestFile);
  }
  const std::vector<const TrainingPage*> pages = PagesFrom(settings, session);
  if (pages.empty()) {
    throw Error(ErrorKind::kInput, {.file = session.work.records(), .field = {}},
                "has no documents that were kept for judging; record more");
  }
  const std::string general_folder = GeneralFolder(settings, session);
  RecordedPages general;
  if (!general_folder.empty()) general = session.Records(general_folder);
  const Side after = LookAtFile(settings, "after", head, session, pages, general.pages);
  const std::string& against = settings.Text("against");
  const bool drafts_nothing = against.empty() && !session.snapshot.architecture->Draft();
  const Side before = drafts_nothing
                          ? WithoutDrafts(after.steps, session, pages, general.pages)
                          : LookAtFile(settings, "before", against, session, pages, general.pages);
  const int drafts =
      std::min(static_cast<int>(settings.Integer("drafts")), std::min(before.steps, after.steps));
  const GateOutcome outcome =
      JudgeDrafts({before.hits, after.hits}, {before.general, after.general}, drafts, before.cost,
                  after.cost, static_cast<uint64_t>(settings.Integer("seed")));
  const EvaluationReport report = {before, after, outcome, drafts};
  const Json json = JsonOf(report, {{"head", head},
                                    {"head_hash", HashOfFile(head)},
                                    {"against", against},
                                    {"part", settings.Text("part")},
                                    {"regions", pages.size()},
                                    {"precision", session.recorded.with.precision}});
  WriteJson(session.work.folder(), WorkFolder::kEvaluation, json);
  if (settings.Flag("json")) {
    fmt::print("{}\n", json.dump(1));
  } else {
    PrintReport(report);
    if (!outcome.general) {
      fmt::print(
          "no general set: platen tune-mtp record {}/general with pages of other kinds shows "
          "what these weights lose there\n",
          DisplayName(session.work.folder().path()));
    }
  }
  return outcome.verdict == Verdict::kBetter ? kExitDone : kExitSomeFailed;
}

}  // namespace platen
