#include "apps/platen/commands/report/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/platen/cli/html_page.h"
#include "apps/platen/cli/progress_line.h"
#include "apps/platen/commands/report/charts.h"
#include "apps/platen/commands/report/doubt_cards.h"
#include "apps/platen/commands/report/report_style.h"
#include "model/support/grouped.h"
#include "stages/formats/xml_writer.h"

namespace platen {
namespace {

std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Three digits: "1,234", "12.3", "0.0123".
std::string Short(double value) {
  if (value >= 100) return Grouped(static_cast<int64_t>(value + 0.5));
  if (value >= 1 || value < 1e-9) return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
  const int digits = 2 - static_cast<int>(std::floor(std::log10(value)));
  return fmt::format("{:.{}f}", value, digits);
}

class Page {
 public:
  explicit Page(const ReportFacts& facts) : facts_(facts) {
    for (const RunView& run : facts.read) Add(run);
    latest_read_ = std::any_of(facts.job.begin(), facts.job.end(),
                               [](const RunView& run) { return run.pages_read > 0; });
  }

  std::string Write() {
    const std::string text = BeginHtmlPage("platen: " + facts_.folder, kReportStyle, xml_);
    WriteHead();
    WriteThroughput();
    WriteStages();
    WriteDrafts();
    WriteFailures();
    WriteDoubts(facts_, xml_);
    WriteRuns();
    WriteMachine();
    xml_.CloseAll();
    return text + xml_.Take();
  }

 private:
  // Figures of all parts of a job together.
  void Add(const RunView& run) {
    all_.pages_read += run.pages_read;
    all_.pages_failed += run.pages_failed;
    all_.documents_read += run.documents_read;
    all_.documents_before += run.documents_before;
    all_.core_s += run.core_s;
    all_.wall_s = std::max(all_.wall_s, run.wall_s);
    all_.tokens += run.tokens;
  }

  void Heading(const std::string& text) { xml_.Leaf("h2", {}, text); }
  void Say(const std::string& text) { xml_.Leaf("p", {}, text); }
  void Tile(const std::string& figure, const std::string& what) {
    xml_.Open("li");
    xml_.Leaf("b", {}, figure);
    xml_.Leaf("span", {}, what);
    xml_.Close();
  }
  void Row(const std::vector<std::string>& cells, size_t first_number, const char* tag = "td") {
    xml_.Open("tr");
    for (size_t i = 0; i < cells.size(); ++i) {
      xml_.Leaf(tag, {{"class", i >= first_number ? "n" : "long"}}, cells[i]);
    }
    xml_.Close();
  }
  void OpenTable() {
    xml_.Open("div", {{"class", "wide"}});
    xml_.Open("table");
  }
  void CloseTable() {
    xml_.Close();
    xml_.Close();
  }

  void WriteState() {
    const FolderStatus& status = facts_.status;
    const bool running = std::any_of(status.job.begin(), status.job.end(), [](const auto& runs) {
      return runs.state == RunState::kRunning;
    });
    const bool failed = status.failures > 0 || status.documents_failed > 0;
    const char* style = !status.finished() ? "warn" : failed ? "bad" : "good";
    std::string text = "Finished, nothing failed.";
    if (running) {
      text = "A run is going on; the figures are those of runs that have ended.";
    } else if (!status.finished()) {
      text = "There is work left: the same command does it.";
    } else if (failed) {
      text = "Finished, " + Counted(status.failures, "failure") + ".";
    }
    xml_.Leaf("p", {{"class", std::string("state ") + style}}, text);
  }

  void WriteHead() {
    xml_.Leaf("h1", {}, facts_.folder);
    WriteState();
    if (!facts_.job.empty()) {
      const RunView& run = facts_.job.front();
      Say("Latest run: " + run.started_at + " to " + run.ended_at + ", " + run.result +
          (run.host.empty() ? "" : ", on " + run.host) + ", platen " + run.version + ".");
      WriteWhoseFigures();
    }
    xml_.Open("ul", {{"class", "tiles"}});
    Tile(Grouped(all_.pages_read),
         latest_read_ ? "pages read by the latest run" : "pages read by that run");
    Tile(Grouped(facts_.status.pages), "pages in the folder");
    Tile(Grouped(facts_.status.documents), "documents in the folder");
    Tile(Grouped(facts_.status.failures), "failures");
    Tile(Grouped(facts_.doubtful_pages), "doubtful pages");
    if (all_.pages_read > 0) WriteCostTiles();
    xml_.Close();
  }

  void WriteWhoseFigures() {
    if (latest_read_ || facts_.read.empty()) return;
    Say("It had no page to read. Figures and charts are those of the latest that had, which began "
        "at " +
        facts_.read.front().started_at + ".");
  }

  void WriteCostTiles() {
    Tile(RoughDuration(all_.wall_s), "time");
    Tile(Short(all_.PagesPerSecond()), "pages per second");
    Tile(Short(all_.PagesPerCoreHour()), "pages per core-hour");
    const double hours = all_.CoreSecondsPerPage() * 1000 / 3600;
    Tile(Short(hours), "core-hours for 1,000 pages");
    if (facts_.price > 0)
      Tile(Short(hours * facts_.price) + " " + facts_.currency, "for 1,000 pages");
  }

  void WriteThroughput() {
    constexpr double kShortRun = 10;
    if (all_.pages_read + all_.pages_failed == 0 || all_.wall_s < kShortRun) return;
    Heading("Pages per minute");
    DrawThroughput(ThroughputOf(facts_.read), xml_);
    xml_.Leaf("p", {{"class", "soft"}},
              "Times are UTC. Pages that failed are red. Large documents count when each page is "
              "done.");
  }

  void WriteStages() {
    std::vector<StageView> stages;
    for (const RunView& run : facts_.read) {
      for (const StageView& stage : run.stages) {
        const auto known = std::find_if(stages.begin(), stages.end(),
                                        [&](const auto& s) { return s.name == stage.name; });
        StageView& sum = known != stages.end() ? *known : stages.emplace_back(stage.name);
        sum.calls += stage.calls;
        sum.thread_cpu_s += stage.thread_cpu_s;
      }
    }
    std::vector<Bar> bars;
    double most = 0, all_s = 0;
    for (const StageView& stage : stages) {
      most = std::max(most, stage.thread_cpu_s);
      all_s += stage.thread_cpu_s;
    }
    if (!(all_s > 0) || all_.pages_read == 0) return;
    for (const StageView& stage : stages) {
      bars.push_back({stage.name, stage.thread_cpu_s,
                      fmt::format("{} s, {}", Short(stage.thread_cpu_s),
                                  Percent(stage.thread_cpu_s / all_s))});
    }
    Heading("Time in each stage");
    DrawBars(bars, most, xml_);
    xml_.Leaf("p", {{"class", "soft"}},
              fmt::format("CPU time of the thread that ran the stage. All threads took {} s "
                          "together: tiles that others took over are in that sum alone.",
                          Short(all_.core_s)));
  }

  void WriteDrafts() {
    const auto drafted = std::find_if(facts_.read.begin(), facts_.read.end(),
                                      [](const RunView& run) { return run.tokens > 0; });
    if (drafted == facts_.read.end()) return;
    Heading("Speculative decoding");
    Say("Speculation was " + drafted->speculation + ".");
    std::vector<Bar> bars;
    for (size_t i = 0; i < drafted->acceptance.size(); ++i) {
      const AcceptanceView& position = drafted->acceptance[i];
      bars.push_back({"draft " + std::to_string(i + 1), position.rate,
                      fmt::format("{} of {}", Percent(position.rate), Grouped(position.drafted))});
    }
    if (!bars.empty()) DrawBars(bars, 1, xml_);
    xml_.Leaf("p", {{"class", "soft"}},
              fmt::format("How often the drafts up to a position were all right. A round with "
                          "drafts decided {} tokens; a pass of the model had {} rows. Drafts are "
                          "made only as far as they pay.",
                          Short(drafted->mean_accepted_length), Short(drafted->rows_per_step)));
    if (!bars.empty()) WriteDraftCosts(*drafted);
  }

  void WriteDraftCosts(const RunView& run) {
    Say(
        fmt::format("Drafting took {} s, the passes of the model {} s. {} of their rows were for "
                    "drafts that were wrong; {} not verified, because it would not have paid.",
                    Short(run.draft_s), Short(run.verify_s), Percent(run.rows_wasted),
                    Counted(run.drafts_not_verified, "draft") +
                        (run.drafts_not_verified == 1 ? " was" : " were")));
  }

  void WriteFailures() {
    if (facts_.status.failures == 0) return;
    Heading("What failed");
    OpenTable();
    Row({"reason", "for example", "failures"}, 2, "th");
    for (const FailureReason& reason : facts_.status.reasons) {
      Row({reason.code, reason.example, Grouped(reason.count)}, 2);
    }
    CloseTable();
    xml_.Open("details");
    const auto shown = static_cast<int64_t>(facts_.failures.size());
    xml_.Leaf("summary", {},
              shown < facts_.status.failures
                  ? "The first " + Grouped(shown) + " of " + Grouped(facts_.status.failures)
                  : "All of them");
    OpenTable();
    for (const FailureView& failure : facts_.failures) {
      Row({PageName(failure.name, failure.page), failure.code, failure.error}, 3);
    }
    CloseTable();
    xml_.Close();
    xml_.Open("p");
    xml_.Leaf("code", {}, "platen ocr --manifest OUT/failures.jsonl -o OUT");
    xml_.Leaf("span", {}, "tries them again.");
    xml_.Close();
  }

  void WriteRuns() {
    if (facts_.runs.empty()) return;
    Heading("Runs");
    OpenTable();
    Row({"start", "end", "pages", "failed", "time", "pages/s", "pages per core-hour",
         "draft 1 right"},
        2, "th");
    for (const RunView& run : facts_.runs) {
      const bool read = run.pages_read > 0;
      const bool drafts = !run.acceptance.empty() && run.acceptance.front().drafted > 0;
      Row({run.started_at + (run.shard.is_all() ? "" : ", " + run.shard.Text()), run.result,
           Grouped(run.pages_read), Grouped(run.pages_failed), RoughDuration(run.wall_s),
           read ? Short(run.PagesPerSecond()) : "", read ? Short(run.PagesPerCoreHour()) : "",
           drafts ? Percent(run.acceptance.front().rate) : ""},
          2);
    }
    CloseTable();
    const FolderStatus& status = facts_.status;
    xml_.Leaf("p", {{"class", "soft"}},
              fmt::format("{} in all, {} core-hours{}.", Counted(status.runs, "run"),
                          Short(status.core_s / 3600),
                          status.runs_unended > 0 ? "; " + Grouped(status.runs_unended) +
                                                        " going on or killed, of unknown cost"
                                                  : ""));
  }

  void WriteMachine() {
    if (facts_.job.empty()) return;
    const RunView& run = (facts_.read.empty() ? facts_.job : facts_.read).front();
    Heading("Machine and options");
    OpenTable();
    const auto row = [&](const std::string& name, const std::string& value) {
      if (!value.empty()) Row({name, value}, 2);
    };
    row("CPU", run.cpu + (run.kernels.empty() ? "" : ", kernels " + run.kernels));
    row("threads", Grouped(run.threads) + ", " + Counted(run.slots, "page") + " in memory");
    row("peak memory", SizeText(run.peak_memory_bytes));
    row("model", run.model);
    for (const auto& [name, value] : run.options) row(name, value);
    CloseTable();
  }

  const ReportFacts& facts_;
  RunView all_;               // of `facts_.read`
  bool latest_read_ = false;  // any page
  XmlWriter xml_;
};

}  // namespace

std::string ReportPage(const ReportFacts& facts) { return Page(facts).Write(); }

}  // namespace platen
