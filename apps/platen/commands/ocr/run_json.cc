#include "apps/platen/commands/ocr/run_json.h"

#include <unistd.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>

#include "apps/platen/cli/utc_time.h"
#include "model/support/display_text.h"
#include "model/support/utf8.h"
#include "pipeline/hardware.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

double Rounded(double value) { return std::round(value * 1000) / 1000; }

double Ratio(int64_t numerator, int64_t denominator) {
  if (denominator == 0) return 0;
  return Rounded(static_cast<double>(numerator) / static_cast<double>(denominator));
}

Json Configuration(const Settings& settings) {
  Json json = Json::object();
  for (const auto& [name, setting] : settings.all()) {
    if (name == "help") continue;
    json[ConfigKey(name)] = {{"value", ToValidUtf8(setting.value)},
                             {"from", OriginName(setting.origin)}};
  }
  return json;
}

Json Hardware(const RunFacts& facts) {
  return {{"cpu", CpuName()},
          {"features", CpuFeatureNames()},
          {"kernels", facts.kernels},
          {"threads", facts.options.pipeline.threads},
          {"slots", facts.options.pipeline.slots},
          {"memory_bytes", TotalMemoryBytes()},
          {"usable_memory_bytes", UsableMemoryBytes()}};
}

Json Totals(const RunFacts& facts) {
  const Progress& t = facts.report.totals;
  const Discovery& found = facts.discovery;
  return {{"documents", t.documents_total},
          {"documents_read", t.documents_read},
          {"documents_finished_before", t.documents_skipped},
          {"documents_failed", t.documents_failed},
          {"documents_not_read", t.documents_not_read()},
          {"pages_read", t.pages_read},
          {"pages_failed", t.pages_failed},
          {"pages_doubtful", t.pages_doubtful},
          {"pages_from_text_layer", t.pages_from_text_layer},
          {"pages_resumed", t.pages_resumed},
          {"pages_finished_before", t.pages_skipped},
          {"regions", t.regions},
          {"regions_failed", t.regions_failed},
          {"regions_retried", t.regions_retried},
          {"regions_read_again", t.regions_read_again},
          {"lines", t.lines},
          {"low_confidence_lines", t.low_confidence_lines},
          {"tokens", t.tokens},
          {"failures", t.failures},
          {"other_files", found.other_files.size()},
          {"hidden_files", found.hidden.size()},
          {"repeated", found.repeated.size()}};
}

Json NamesOf(const std::vector<std::string>& paths) {
  Json names = Json::array();
  for (const std::string& path : paths) names.push_back(DisplayName(path));
  return names;
}

// What was found and is no document of this run.
Json NotRead(const Discovery& found) {
  Json repeated = Json::array();  // sentences, made of names that are shown already
  for (const std::string& text : found.repeated) repeated.push_back(text);
  return {{"other_files", NamesOf(found.other_files)},
          {"hidden_files", NamesOf(found.hidden)},
          {"folders_of_results", NamesOf(found.results)},
          {"repeated", repeated}};
}

Json Doubtful(const std::vector<DoubtfulPage>& pages) {
  Json json = Json::array();
  for (const DoubtfulPage& page : pages) {
    json.push_back({{"input", page.name},
                    {"output", ToValidUtf8(page.output)},
                    {"page", page.page},
                    {"code", DoubtCode(page.doubt.kind)},
                    {"text", page.doubt.text}});
  }
  return json;
}

std::string HostName() {
  char name[256] = "";
  return ::gethostname(name, sizeof(name) - 1) == 0 ? ToValidUtf8(name) : "";
}

Json Time(const RunFacts& facts) {
  const RunReport& r = facts.report;
  Json stages = Json::object();
  for (int i = 0; i < kNumStages; ++i) {
    const StageTime& time = r.stages[static_cast<size_t>(i)];
    stages[StageName(static_cast<Stage>(i))] = {{"calls", time.calls},
                                                {"wall_s", Rounded(time.wall_s)},
                                                {"thread_cpu_s", Rounded(time.thread_cpu_s)}};
  }
  return {{"load_wall_s", Rounded(facts.load_s)},
          {"load_core_s", Rounded(facts.load_cpu_s)},
          {"wall_s", Rounded(r.wall_s)},
          {"core_s", Rounded(r.cpu_s)},
          {"children_core_s", Rounded(r.children_cpu_s)},
          {"pages_per_core_hour", Rounded(PagesPerCoreHour(r))},
          {"stages_note",
           "wall_s: inside the stage, summed over its calls; thread_cpu_s: of the thread that ran "
           "it. Tiles that other threads took over count in core_s alone; with one thread the "
           "stages add up."},
          {"stages", stages}};
}

int64_t Sum(const std::vector<int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

int64_t RejectedDrafts(const EngineStats& stats) {
  return Sum(stats.drafted_at) - Sum(stats.accepted_at);
}

// Tokens decided by a round that had drafts: those accepted and the target's own.
Json MeanAcceptedLength(const EngineStats& stats) {
  return Ratio(stats.drafted_rounds + Sum(stats.accepted_at), stats.drafted_rounds);
}

// {"1": 12, "2": 3, "4": 40, ...}: target passes of at most so many rows.
Json StepsByRows(const EngineStats& stats) {
  Json steps = Json::object();
  for (size_t b = 0; b < EngineStats::kRowBuckets; ++b) {
    if (stats.steps_by_rows[b] == 0) continue;
    const bool last = b + 1 == EngineStats::kRowBuckets;
    steps[last ? "more" : std::to_string(int64_t{1} << b)] = stats.steps_by_rows[b];
  }
  return steps;
}

Json Decoding(const EngineStats& stats) {
  Json acceptance = Json::array();
  for (size_t i = 0; i < stats.drafted_at.size(); ++i) {
    acceptance.push_back({{"position", i + 1},
                          {"drafted", stats.drafted_at[i]},
                          {"accepted", stats.accepted_at[i]},
                          {"rate", Ratio(stats.accepted_at[i], stats.drafted_at[i])},
                          {"conditional_rate", Ratio(stats.accepted_at[i], stats.examined_at[i])}});
  }
  Json reasons = Json::array();
  for (const auto& [reason, times] : stats.fault_reasons) {
    reasons.push_back({{"reason", ToValidUtf8(reason)}, {"times", times}});
  }
  return {{"steps", stats.steps},
          {"rows", stats.rows},
          {"mean_rows_per_step", Ratio(stats.rows, stats.steps)},
          {"mean_sequences_per_step", Ratio(stats.rounds, stats.steps)},
          {"tokens_per_target_pass", Ratio(stats.decoded_tokens, stats.rounds)},
          {"steps_by_rows", StepsByRows(stats)},
          {"speculation", stats.speculation},
          {"rounds_with_drafts", Ratio(stats.drafted_rounds, stats.rounds)},
          {"acceptance", acceptance},
          {"mean_accepted_length", MeanAcceptedLength(stats)},
          {"rows_wasted", Ratio(RejectedDrafts(stats), stats.rows)},
          {"drafts_not_verified", stats.unverified},
          {"draft_s", Rounded(stats.draft_s)},
          {"verify_s", Rounded(stats.verify_s)},
          {"draft_faults", stats.draft_faults},
          {"draft_batches_failed", stats.failed_drafts},
          {"draft_fault_reasons", reasons},
          {"passes_failed", stats.failed_passes},
          {"sequences_retried", stats.retried},
          {"kv_blocks", stats.kv_blocks_total},
          {"kv_blocks_peak", stats.kv_blocks_peak},
          {"preemptions", stats.preemptions},
          {"rows_recomputed", stats.recomputed_rows},
          {"drafts_without_a_block", stats.short_of_blocks}};
}

Json DraftHeadOf(const RunFacts& facts) {
  if (!facts.draft_head) return nullptr;
  const std::string& given_up = facts.report.engine.draft_head_given_up;
  return {{"file", ToValidUtf8(facts.draft_head->path)},
          {"installed", facts.draft_head->installed},
          {"packed", facts.draft_head->packed},
          {"given_up", given_up.empty() ? Json(nullptr) : Json(given_up)}};
}

Json FailureReasons(const RunReport& report) {
  Json reasons = Json::object();
  for (const auto& [code, count] : report.failure_counts) reasons[FailureCodeName(code)] = count;
  return reasons;
}

Json TimelineOf(const RunFacts& facts) {
  Json points = Json::array();
  for (const TimelinePoint& point : facts.timeline) {
    points.push_back({{"at_s", Rounded(point.at_s)},
                      {"pages_read", point.pages_read},
                      {"pages_failed", point.pages_failed},
                      {"tokens", point.tokens}});
  }
  return points;
}

Json CommandLine(const RunFacts& facts) {
  Json words = {"platen", "ocr"};
  for (const std::string& word : facts.words) words.push_back(ToValidUtf8(word));
  return words;
}

Json Failures(const RunReport& report) {
  Json failures = Json::array();
  for (const Failure& failure : report.failures) {
    failures.push_back({{"input", failure.name},
                        {"page", failure.page},
                        {"code", FailureCodeName(failure.error.code)},
                        {"error", ToValidUtf8(failure.error.text)}});
  }
  return failures;
}

}  // namespace

double PagesPerCoreHour(const RunReport& report) {
  const double core_s = report.cpu_s + report.children_cpu_s;
  return core_s > 0 ? static_cast<double>(report.totals.pages_read) * 3600 / core_s : 0;
}

RunEnd EndOf(const RunFacts& facts) {
  const RunReport& r = facts.report;
  RunEnd end;
  end.result = facts.exit;
  end.ended_s = std::time(nullptr);
  end.documents = r.totals.documents_total;
  end.failures = r.totals.failures;
  end.core_s = Rounded(facts.load_cpu_s + r.cpu_s + r.children_cpu_s);
  end.interrupted = r.interrupted || r.reached_max_pages;
  return end;
}

RunJsonTexts RunJson(const RunFacts& facts) {
  Json json = {{"platen", facts.options.version},
               {"run", facts.run},
               {"command", CommandLine(facts)},
               {"result", facts.exit},
               {"started_at", UtcTime(facts.started_s)},
               {"ended_at", UtcTime(std::time(nullptr))},
               {"host", HostName()},
               {"model",
                {{"dir", facts.model_dir},
                 {"id", facts.options.model_id},
                 {"packed_file", facts.packed_file},
                 {"draft_head", DraftHeadOf(facts)}}},
               {"configuration", Configuration(facts.settings)},
               {"hardware", Hardware(facts)},
               {"totals", Totals(facts)},
               {"time", Time(facts)},
               {"decoding", Decoding(facts.report.engine)},
               {"peak_memory_bytes", facts.report.peak_memory_bytes},
               {"not_read", NotRead(facts.discovery)},
               {"doubtful", Doubtful(facts.doubtful)},
               {"failures", Failures(facts.report)},
               {"failure_reasons", FailureReasons(facts.report)},
               {"timeline", TimelineOf(facts)},
               {"failures_not_listed", facts.report.failures_not_listed}};
  if (!facts.shard.is_all()) {
    json["shard"] = {{"index", facts.shard.index}, {"of", facts.shard.count}};
  }
  return {json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n",
          json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace platen
