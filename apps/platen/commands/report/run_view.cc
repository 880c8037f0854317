#include "apps/platen/commands/report/run_view.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "model/support/json_fields.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostItems = 10'000;  // of any list

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  double Number(const char* path) const {
    const Json* value = At(path);
    const double number = value != nullptr && value->is_number() ? value->get<double>() : 0;
    return std::isfinite(number) ? number : 0;
  }
  int64_t Count(const char* path) const {
    return static_cast<int64_t>(std::clamp(Number(path), -1e15, 1e15));
  }
  std::string Text(const char* path) const {
    const Json* value = At(path);
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
  }
  // Calls `work` with each item.
  template <typename Work>
  void Each(const char* path, const Work& work) const {
    const Json* list = At(path);
    if (list == nullptr || !list->is_array()) return;
    for (size_t i = 0; i < std::min(list->size(), kMostItems); ++i) work(Reader((*list)[i]));
  }
  template <typename Work>
  void EachMember(const char* path, const Work& work) const {
    const Json* object = At(path);
    if (object == nullptr || !object->is_object()) return;
    for (const auto& [key, value] : object->items()) work(key, Reader(value));
  }

 private:
  const Json* At(const char* path) const {
    const Json::json_pointer pointer(path);
    return json_.contains(pointer) ? &json_.at(pointer) : nullptr;
  }

  const Json& json_;
};

int64_t SecondsOf(const std::string& utc) {
  std::tm time = {};
  const char* end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  return end != nullptr && *end == '\0' ? static_cast<int64_t>(::timegm(&time)) : 0;
}

void ReadTotals(const Reader& json, RunView& run) {
  run.documents = json.Count("/totals/documents");
  run.documents_read = json.Count("/totals/documents_read");
  run.documents_failed = json.Count("/totals/documents_failed");
  run.documents_before = json.Count("/totals/documents_finished_before");
  run.pages_read = json.Count("/totals/pages_read");
  run.pages_failed = json.Count("/totals/pages_failed");
  run.pages_doubtful = json.Count("/totals/pages_doubtful");
  run.pages_from_text_layer = json.Count("/totals/pages_from_text_layer");
  run.failures = json.Count("/totals/failures");
  run.tokens = json.Count("/totals/tokens");
}

void ReadTimes(const Reader& json, RunView& run) {
  run.wall_s = std::max(0.0, json.Number("/time/wall_s"));
  run.core_s = std::max(0.0, json.Number("/time/core_s") + json.Number("/time/children_core_s"));
  run.load_s = json.Number("/time/load_wall_s");
  json.EachMember("/time/stages", [&](const std::string& name, const Reader& stage) {
    run.stages.push_back(
        {name, stage.Count("/calls"), std::max(0.0, stage.Number("/thread_cpu_s"))});
  });
  json.Each("/timeline", [&](const Reader& point) {
    run.timeline.push_back({point.Number("/at_s"), point.Count("/pages_read"),
                            point.Count("/pages_failed"), point.Count("/tokens")});
  });
}

void ReadDecoding(const Reader& json, RunView& run) {
  json.Each("/decoding/acceptance", [&](const Reader& position) {
    run.acceptance.push_back(
        {position.Count("/drafted"), std::clamp(position.Number("/rate"), 0.0, 1.0)});
  });
  run.mean_accepted_length = json.Number("/decoding/mean_accepted_length");
  run.tokens_per_pass = json.Number("/decoding/tokens_per_target_pass");
  run.rows_per_step = json.Number("/decoding/mean_rows_per_step");
  run.draft_s = std::max(0.0, json.Number("/decoding/draft_s"));
  run.verify_s = std::max(0.0, json.Number("/decoding/verify_s"));
  run.rows_wasted = std::clamp(json.Number("/decoding/rows_wasted"), 0.0, 1.0);
  run.drafts_not_verified = json.Count("/decoding/drafts_not_verified");
  run.speculation = json.Text("/decoding/speculation");
}

}  // namespace

std::optional<RunView> ViewOf(const PastRun& past, const Shard& shard) {
  const auto parsed = ParseShallow<Json>(past.json);
  if (!parsed.is_object()) return std::nullopt;
  const Reader json(parsed);
  RunView run;
  run.name = past.name;
  run.number = past.number;
  run.shard = shard;
  run.started_at = json.Text("/started_at");
  run.ended_at = json.Text("/ended_at");
  run.started_s = SecondsOf(run.started_at);
  run.result = json.Text("/result");
  run.host = json.Text("/host");
  run.version = json.Text("/platen");
  run.model = json.Text("/model/dir");
  run.kernels = json.Text("/hardware/kernels");
  run.cpu = json.Text("/hardware/cpu");
  run.threads = json.Count("/hardware/threads");
  run.slots = json.Count("/hardware/slots");
  run.peak_memory_bytes = json.Count("/peak_memory_bytes");
  ReadTotals(json, run);
  ReadTimes(json, run);
  ReadDecoding(json, run);
  json.EachMember("/failure_reasons", [&](const std::string& code, const Reader& count) {
    run.reasons.emplace_back(code, count.Count(""));
  });
  json.Each("/doubtful", [&](const Reader& doubt) {
    const auto page = static_cast<int>(std::clamp<int64_t>(doubt.Count("/page"), 0, INT_MAX));
    run.doubts.push_back({doubt.Text("/input"), doubt.Text("/output"), page, doubt.Text("/code"),
                          doubt.Text("/text")});
  });
  json.EachMember("/configuration", [&](const std::string& key, const Reader& option) {
    if (option.Text("/from") != "default") run.options.emplace_back(key, option.Text("/value"));
  });
  return run;
}

}  // namespace platen
