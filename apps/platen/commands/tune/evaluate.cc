// platen tune-mtp evaluate.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/commands/tune/tune_programs.h"
#include "apps/platen/commands/tune/tune_session.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/support/hash.h"
#include "model/support/mapped_file.h"
#include "model/training/tuner.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

std::vector<PageHits> HitsOfAll(const std::vector<const TrainingPage*>& pages, int steps,
                                LoadedDraft& loaded) {
  std::vector<PageHits> hits;
  for (const TrainingPage* page : pages) hits.push_back(HitsOf(*page, steps, loaded.draft));
  return hits;
}

// The documents of which nothing is known to training.
std::vector<const TrainingPage*> PagesFrom(const Settings& settings, const TuneSession& session) {
  const auto seed = static_cast<uint64_t>(settings.Integer("seed"));
  if (settings.Text("part") == "judge") return session.UnseenPages(seed);
  std::vector<const TrainingPage*> pages;
  for (const TrainingPage& page : session.recorded.pages) pages.push_back(&page);
  return pages;
}

struct Side {
  std::string name;
  int steps = 0;
  std::vector<PageHits> hits;
  Acceptance acceptance;
};

// A model that drafts nothing: no guess of `steps` is right.
Side WithoutDrafts(int steps, const std::vector<const TrainingPage*>& pages) {
  Side side = {"before", steps, {}, {}};
  for (const TrainingPage* page : pages) {
    PageHits& hits = side.hits.emplace_back();
    hits.document = page->document;
    hits.answer = page->length() - page->prompt;
    for (int d = 0; d < steps; ++d) {
      hits.hits.emplace_back(static_cast<size_t>(RowsOfStep(page->prompt, page->length(), d)));
    }
  }
  side.acceptance = AcceptanceOf(side.hits, steps);
  return side;
}

Side Look(const std::string& name, const std::string& path, const TuneSession& session,
          const std::vector<const TrainingPage*>& pages) {
  LoadedDraft loaded(session, path);
  Side side;
  side.name = name;
  side.steps = MostSteps(loaded.shape);
  side.hits = HitsOfAll(pages, side.steps, loaded);
  side.acceptance = AcceptanceOf(side.hits, side.steps);
  return side;
}

Json JsonOf(const Side& side) {
  Json json = {{"name", side.name}, {"conditional", Json::array()}, {"rounds", Json::array()}};
  for (size_t d = 0; d < side.acceptance.tried.size(); ++d) {
    json["conditional"].push_back(side.acceptance.conditional(d));
    const Rounds& rounds = side.acceptance.rounds[d];
    json["rounds"].push_back({{"drafts", d + 1},
                              {"rounds", rounds.rounds},
                              {"tokens", rounds.tokens},
                              {"tokens_per_round", rounds.tokens_per_round()},
                              {"made", rounds.made},
                              {"right", rounds.right}});
  }
  return json;
}

std::string Cell(const Side& side, size_t d, bool rounds) {
  if (d >= side.acceptance.tried.size()) return "-";
  return rounds ? fmt::format("{:.3f}", side.acceptance.rounds[d].tokens_per_round())
                : fmt::format("{:.3f}", side.acceptance.conditional(d));
}

void PrintTable(const Side& before, const Side& after) {
  fmt::print("{:>6}  {:>9} {:>9}  {:>9} {:>9}\n", "draft", "right if those before it were", "",
             "tokens a round with so many", "");
  fmt::print("{:>6}  {:>14} {:>14}  {:>13} {:>13}\n", "", "before", "after", "before", "after");
  const size_t rows = std::max(before.acceptance.tried.size(), after.acceptance.tried.size());
  for (size_t d = 0; d < rows; ++d) {
    fmt::print("{:>6}  {:>14} {:>14}  {:>13} {:>13}\n", d + 1, Cell(before, d, false),
               Cell(after, d, false), Cell(before, d, true), Cell(after, d, true));
  }
}

const char* NameOf(Verdict verdict) {
  return verdict == Verdict::kBetter   ? "better"
         : verdict == Verdict::kNoGain ? "no gain"
                                       : "too few documents";
}

std::string Sentence(Verdict verdict, const Gain& gain, int drafts) {
  const std::string numbers = fmt::format(
      "{:+.3f} tokens a round with {}; 95 % of resamples of {} between {:+.3f} and "
      "{:+.3f}",
      gain.mean, Counted(drafts, "draft"), Counted(gain.documents, "document"), gain.low,
      gain.high);
  switch (verdict) {
    case Verdict::kBetter:
      return "better: " + numbers;
    case Verdict::kNoGain:
      return "no gain that is beyond chance: " + numbers;
    case Verdict::kTooFewToTell:
      return fmt::format("too few documents to tell, {} are needed: {}", kFewestDocuments, numbers);
  }
  return numbers;
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
  const Side after = Look("after", head, session, pages);
  const std::string& against = settings.Text("against");
  const bool drafts_nothing = against.empty() && !session.snapshot.architecture->Draft();
  const Side before =
      drafts_nothing ? WithoutDrafts(after.steps, pages) : Look("before", against, session, pages);
  const int drafts =
      std::min(static_cast<int>(settings.Integer("drafts")), std::min(before.steps, after.steps));
  const Gain gain = BootstrapGain(before.hits, after.hits, drafts,
                                  static_cast<uint64_t>(settings.Integer("seed")));
  const Verdict verdict = Judge(gain);
  const MappedFile file(head);
  const Json json = {{"head", head},
                     {"head_hash", HashHex({reinterpret_cast<const char*>(file.data().data()),
                                            file.data().size()})},
                     {"part", settings.Text("part")},
                     {"regions", pages.size()},
                     {"documents", gain.documents},
                     {"precision", session.recorded.with.precision},
                     {"drafts", drafts},
                     {"gain", {{"mean", gain.mean}, {"low", gain.low}, {"high", gain.high}}},
                     {"verdict", NameOf(verdict)},
                     {"before", JsonOf(before)},
                     {"after", JsonOf(after)}};
  WriteJson(session.work.folder(), WorkFolder::kEvaluation, json);
  if (settings.Flag("json")) {
    fmt::print("{}\n", json.dump(1));
  } else {
    PrintTable(before, after);
    fmt::print("\n{}\n", Sentence(verdict, gain, drafts));
  }
  return verdict == Verdict::kBetter ? kExitDone : kExitSomeFailed;
}

}  // namespace platen
