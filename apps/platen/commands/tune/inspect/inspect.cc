// platen tune-mtp inspect.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/commands/tune/inspect/inspect_page.h"
#include "apps/platen/commands/tune/tune_programs.h"
#include "apps/platen/commands/tune/tune_session.h"
#include "model/support/atomic_file.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"

namespace platen {
namespace {

constexpr size_t kMisses = 20;

std::optional<Folder> TrainFolder(const WorkFolder& work) {
  if (!work.folder().Look("train")) return std::nullopt;
  return work.Train(Folder::Missing::kFail);
}

// Of the trained weights; empty: there are none.
std::string HeadFrom(const Settings& settings, const std::optional<Folder>& train) {
  const std::string& named = settings.Text("head");
  if (!named.empty() || !train || !train->Look(Tuner::kBestFile)) return named;
  return train->PathOf(Tuner::kBestFile);
}

std::vector<const TrainingPage*> All(const TuneSession& session) {
  std::vector<const TrainingPage*> pages;
  for (const TrainingPage& page : session.recorded.pages) pages.push_back(&page);
  return pages;
}

// Which documents are looked at, and what to say of that.
std::vector<const TrainingPage*> PagesFrom(const Settings& settings, const TuneSession& session,
                                           bool trained, std::vector<std::string>& notes) {
  const std::string& part = settings.Text("part");
  if (part == "judge" || (part == "auto" && trained)) {
    std::vector<const TrainingPage*> unseen =
        session.UnseenPages(static_cast<uint64_t>(settings.Integer("seed")));
    if (!unseen.empty()) {
      notes.emplace_back(
          "Only documents that training has not seen, neither to learn nor to "
          "choose.");
      return unseen;
    }
    if (part == "judge") {
      throw Error(ErrorKind::kInput, {.file = session.work.records(), .field = {}},
                  "has no documents that were kept for judging; record more, or take --part all");
    }
  }
  notes.emplace_back(trained ? "All documents that were recorded, those that were trained on among "
                               "them: on new pages drafts will be right less often than here after "
                               "training."
                             : "All documents that were recorded.");
  return All(session);
}

InspectedSide Look(const std::string& name, const std::string& head, const TuneSession& session,
                   const std::vector<const TrainingPage*>& pages, int drafts) {
  LoadedDraft loaded(session, head);
  const int steps = std::min(drafts, MostSteps(loaded.shape));
  std::vector<PageDrafts> regions;
  for (const TrainingPage* page : pages) regions.push_back(DraftsOf(*page, steps, loaded.draft));
  return SideOf(name, std::move(regions), steps);
}

std::vector<InspectedSide> SidesOf(const TuneSession& session, const std::string& head,
                                   const std::vector<const TrainingPage*>& pages, int drafts) {
  std::vector<InspectedSide> sides;
  // A model without drafts of its own can be given heads.
  const bool has_own = session.snapshot.architecture->Draft().has_value();
  if (has_own || head.empty()) sides.push_back(Look("before training", "", session, pages, drafts));
  if (!head.empty()) sides.push_back(Look("after training", head, session, pages, drafts));
  if (head.empty()) sides.back().name = "with the model's own drafts";
  return sides;
}

void NoteWeights(const std::string& head, std::vector<std::string>& notes) {
  if (head.empty()) {
    notes.emplace_back("There are no trained weights: the drafts are the model's own.");
    return;
  }
  const Checkpoint file = Checkpoint::OpenFile(head);
  const auto found = file.metadata().find("platen.step");
  const std::string step = found == file.metadata().end() ? "" : found->second;
  const bool number = !step.empty() && step.find_first_not_of("0123456789") == std::string::npos;
  notes.push_back("Before training: the model's own drafts. After: " + DisplayName(head) +
                  (number ? ", of step " + step : "") + ".");
}

// The text that was read in the region.
std::string TextOf(const TrainingPage& page, const Tokenizer& tokenizer) {
  return DecodeTokens(tokenizer, std::span(page.ids).subspan(static_cast<size_t>(page.prompt)))
      .text;
}

std::vector<ShownRegion> Show(const TuneSession& session,
                              const std::vector<const TrainingPage*>& pages,
                              const InspectedSide& side, size_t most) {
  std::vector<ShownRegion> shown;
  for (const size_t i : MostMissed(side, most)) shown.push_back({pages[i], i, {}});
  std::vector<ShownRegion*> by_page;
  for (ShownRegion& region : shown) by_page.push_back(&region);
  std::sort(by_page.begin(), by_page.end(),
            [](const ShownRegion* a, const ShownRegion* b) { return a->index < b->index; });
  RegionPictures pictures(session.work.results());
  for (ShownRegion* region : by_page) {
    region->picture = pictures.Of(*region->page, TextOf(*region->page, session.snapshot.tokenizer));
  }
  return shown;
}

int64_t DocumentsOf(const std::vector<const TrainingPage*>& pages) {
  std::set<std::string_view> names;
  for (const TrainingPage* page : pages) names.insert(page->document);
  return std::ssize(names);
}

}  // namespace

int RunInspect(const Settings& settings) {
  const TuneSession session(settings);
  const std::optional<Folder> train = TrainFolder(session.work);
  const std::string head = HeadFrom(settings, train);
  InspectFacts facts;
  facts.folder = DisplayName(session.work.folder().path());
  const std::vector<const TrainingPage*> pages =
      PagesFrom(settings, session, !head.empty(), facts.notes);
  NoteWeights(head, facts.notes);
  facts.documents = DocumentsOf(pages);
  facts.regions = std::ssize(pages);
  facts.sides = SidesOf(session, head, pages, static_cast<int>(settings.Integer("drafts")));
  facts.misses = FrequentMisses(pages, facts.sides.back(), kMisses);
  if (train) facts.curves = ReadTrainingLog(*train);
  if (facts.curves.steps > 0 && !settings.Text("head").empty()) {
    facts.notes.push_back("The curves are those of the training in " + DisplayName(train->path()) +
                          ", of which the file may not be.");
  }
  facts.shown =
      Show(session, pages, facts.sides.back(), static_cast<size_t>(settings.Integer("regions")));
  facts.bytes_of = [&](TokenId id) {
    return session.snapshot.tokenizer.Bytes(id, /*skip_special=*/false);
  };
  const std::string& output = settings.Text("output");
  const std::string written =
      output.empty() ? session.work.folder().PathOf(WorkFolder::kInspection) : output;
  ReplaceFile(written, InspectPage(facts), Folder::Missing::kFail);
  fmt::print("page in {}\n", DisplayName(written));
  return kExitDone;
}

}  // namespace platen
