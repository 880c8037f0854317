#include "apps/platen/run_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/platen/hardware.h"

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
    json[ConfigKey(name)] = {{"value", ValidUtf8(setting.value)},
                             {"from", OriginName(setting.origin)}};
  }
  return json;
}

Json Hardware(const RunFacts& facts) {
  return {{"cpu", CpuName()},
          {"features", CpuFeatures()},
          {"kernels", facts.kernels},
          {"threads", facts.options.threads},
          {"memory_bytes", TotalMemoryBytes()}};
}

Json Totals(const RunFacts& facts) {
  const Progress& t = facts.report.totals;
  return {{"documents", t.documents_total},
          {"documents_done", t.documents_done},
          {"documents_failed", t.documents_failed},
          {"documents_finished_before", t.documents_skipped},
          {"pages_done", t.pages_done},
          {"pages_failed", t.pages_failed},
          {"pages_resumed", t.pages_resumed},
          {"pages_finished_before", t.pages_skipped},
          {"regions", t.regions},
          {"regions_failed", t.regions_failed},
          {"regions_retried", t.regions_retried},
          {"lines", t.lines},
          {"low_confidence_lines", t.low_confidence_lines},
          {"tokens", t.tokens},
          {"skipped_hidden", facts.skipped_hidden},
          {"skipped_foreign", facts.skipped_foreign},
          {"named_twice", facts.repeated}};
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

Json Decoding(const EngineStats& stats) {
  Json acceptance = Json::array();
  for (size_t i = 0; i < stats.drafted_at.size(); ++i) {
    acceptance.push_back({{"position", i + 1},
                          {"drafted", stats.drafted_at[i]},
                          {"accepted", stats.accepted_at[i]},
                          {"rate", Ratio(stats.accepted_at[i], stats.drafted_at[i])}});
  }
  return {{"steps", stats.steps},
          {"rows", stats.rows},
          {"mean_rows_per_step", Ratio(stats.rows, stats.steps)},
          {"mean_sequences_per_step", Ratio(stats.rounds, stats.steps)},
          {"tokens_per_target_pass", Ratio(stats.decoded_tokens, stats.rounds)},
          {"acceptance", acceptance},
          {"kv_blocks", stats.kv_blocks_total},
          {"kv_blocks_peak", stats.kv_blocks_peak}};
}

Json Failures(const RunReport& report) {
  Json failures = Json::array();
  for (const Failure& failure : report.failures) {
    failures.push_back(
        {{"input", failure.name}, {"page", failure.page}, {"error", ValidUtf8(failure.error)}});
  }
  return failures;
}

}  // namespace

double PagesPerCoreHour(const RunReport& report) {
  const double core_s = report.cpu_s + report.children_cpu_s;
  return core_s > 0 ? static_cast<double>(report.totals.pages_done) * 3600 / core_s : 0;
}

std::string RunJson(const RunFacts& facts) {
  const Json json = {{"platen", facts.options.version},
                     {"result", facts.exit},
                     {"model",
                      {{"dir", facts.model_dir},
                       {"id", facts.options.model_id},
                       {"packed_file", facts.packed_file}}},
                     {"configuration", Configuration(facts.settings)},
                     {"hardware", Hardware(facts)},
                     {"totals", Totals(facts)},
                     {"time", Time(facts)},
                     {"decoding", Decoding(facts.report.engine)},
                     {"peak_memory_bytes", facts.report.peak_memory_bytes},
                     {"failures", Failures(facts.report)},
                     {"failures_not_listed", facts.report.failures_not_listed}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace platen
