#include "apps/platen/commands/ocr/dry_run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/progress_line.h"
#include "apps/platen/commands/ocr/reading_model.h"
#include "apps/platen/commands/ocr/reading_settings.h"
#include "apps/platen/commands/ocr/resources.h"
#include "apps/platen/commands/report/run_view.h"
#include "model/support/attempt.h"
#include "model/support/display_text.h"
#include "model/support/grouped.h"
#include "pipeline/earlier_clashes.h"
#include "stages/readers/document_reader.h"

namespace platen {
namespace {

constexpr size_t kMostOpened = 200;  // documents whose pages are counted
constexpr size_t kFailuresShown = 10;

struct Plan {
  int64_t finished = 0;
  DocumentList to_read;
  std::vector<std::string> will_fail;  // names and reasons
  double pages = 0;
  bool estimated = false;
};

bool IsFolder(const std::string& path) {
  struct stat facts = {};
  return !path.empty() && ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

// What earlier runs have left, if any has run there.
std::optional<Folder> StateOf(const std::string& output_dir) {
  if (!IsFolder(output_dir)) return std::nullopt;
  const Folder root = Folder::Open(output_dir, Folder::Missing::kFail);
  if (!root.Look(".platen")) return std::nullopt;
  return root.Below(".platen", Folder::Missing::kFail);
}

// Documents that are finished are left out. What the run would refuse is refused.
void ChooseDocuments(const Settings& settings, const Job& job, const std::optional<Folder>& state,
                     Plan& plan) {
  std::optional<KnownDocuments> known;
  if (state) {
    const ReadingModel model(settings, ResourcesFrom(settings));
    known.emplace(Folder::Open(job.target.dir(), Folder::Missing::kFail),
                  IdentityOf(settings, job, model), job.shard);
    LoadLedgers(*state, *known);
    RefuseEarlierClashes(*known, job.discovery.documents, settings.Text("images"));
  }
  const bool force = settings.Flag("force");
  const std::vector<PageRange> pages = PagesFrom(settings);
  for (const InputDocument& document : job.discovery.documents) {
    Fault why = document.error;
    bool finished = false;
    if (why.empty() && known && !force) {
      why = AttemptWith(FailureCode::kInternal, [&] {
        finished = known->IsFinished(known->Know(document), document, pages);
      });
    }
    if (!why.empty()) {
      plan.will_fail.push_back(DisplayName(document.shown_name()) + ": " + why.text);
    } else if (finished) {
      ++plan.finished;
    } else {
      plan.to_read.Add(document);
    }
  }
}

// Of all documents, or of some that are spread evenly over them.
void CountPages(const Settings& settings, Plan& plan) {
  const ReadLimits limits = ReadLimitsFrom(settings);
  const std::vector<PageRange> chosen = PagesFrom(settings);
  const size_t count = plan.to_read.size();
  const size_t opened = std::min(count, kMostOpened);
  int64_t pages = 0;
  for (size_t i = 0; i < opened; ++i) {
    const InputDocument document = plan.to_read[i * count / opened];
    const std::string failure = Attempt([&] {
      const auto reader = DocumentReader::Open(document.path, limits);
      pages += std::ssize(SelectPages(chosen, reader->num_pages()));
    });
    if (!failure.empty() && opened == count) {
      plan.will_fail.push_back(DisplayName(document.shown_name()) + ": " + failure);
    }
  }
  plan.estimated = opened < count;
  if (opened > 0) {
    plan.pages =
        static_cast<double>(pages) * static_cast<double>(count) / static_cast<double>(opened);
  }
}

// The last run that read any page.
std::optional<RunView> LastReading(const std::optional<Folder>& state, const Shard& shard) {
  constexpr size_t kRunsLookedAt = 50;
  if (!state) return std::nullopt;
  for (const PastRun& past : PastRuns(*state, kRunsLookedAt)) {
    auto run = ViewOf(past, shard);
    if (run && run->PagesPerSecond() > 0) return run;
  }
  return std::nullopt;
}

void Print(const Plan& plan, const Job& job, const std::optional<Folder>& state) {
  fmt::print("would read {}, {}{}; {} finished before\n", Counted(plan.to_read.size(), "document"),
             plan.estimated ? "about " : "", Counted(static_cast<int64_t>(plan.pages), "page"),
             Grouped(plan.finished));
  if (!job.shard.is_all()) fmt::print("of shard {}\n", job.shard.Text());
  if (!plan.will_fail.empty()) {
    fmt::print("{} will fail:\n", Counted(plan.will_fail.size(), "document"));
    for (size_t i = 0; i < std::min(plan.will_fail.size(), kFailuresShown); ++i) {
      fmt::print("  {}\n", plan.will_fail[i]);
    }
    if (plan.will_fail.size() > kFailuresShown) {
      fmt::print("  and {} more\n", Grouped(plan.will_fail.size() - kFailuresShown));
    }
  }
  if (const auto last = LastReading(state, job.shard); last && plan.pages > 0) {
    const double rate = last->PagesPerSecond();
    fmt::print("at the rate of the run of {} ({:.{}f} pages/s): {}\n",
               DisplayName(last->started_at), rate, rate < 1 ? 2 : 1,
               RoughDuration(plan.pages / rate));
  } else if (plan.pages > 0) {
    fmt::print(
        "no run into this folder has read a page yet that could tell how long it takes; "
        "platen doctor estimates it\n");
  }
  fmt::print("nothing was read or written\n");
}

}  // namespace

int ShowPlan(const Settings& settings, const Job& job) {
  Plan plan;
  const std::optional<Folder> state = StateOf(job.target.dir());
  ChooseDocuments(settings, job, state, plan);
  CountPages(settings, plan);
  Print(plan, job, state);
  return kExitDone;
}

}  // namespace platen
