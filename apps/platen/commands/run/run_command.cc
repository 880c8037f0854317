// platen run: requests from a file, one on each line, answers to another in the same order.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/interrupt.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/metrics_file.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/ocr/decoding_settings.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "apps/platen/commands/ocr/resources.h"
#include "apps/platen/commands/run/request_line.h"
#include "apps/platen/commands/run/requests_file.h"
#include "apps/platen/commands/run/results_file.h"
#include "model/engine/session.h"
#include "model/engine/stop_strings.h"
#include "model/support/clock.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/support/hash.h"
#include "model/support/utf8.h"
#include "pipeline/model_id.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSyncEveryS = 1;

const OptionTable& RunOptionTable() {
  static const OptionTable table = [] {
    OptionTable made = {
        {.name = "output",
         .value_name = "FILE",
         .group = "Output",
         .help = "Where the answers go, a line each. A file that is there is gone on with. "
                 "Without it they are printed.",
         .short_name = 'o'},
        {.name = "force",
         .type = OptionType::kFlag,
         .default_value = "false",
         .group = "Output",
         .help = "Read everything anew."},
        {.name = "metrics",
         .value_name = "FILE",
         .group = "Output",
         .help = "What decoding did for each request: rounds, drafts, preemptions. It depends on "
                 "time, so it is no part of the answers."}};
    for (const char* name : {"temperature", "top-k", "top-p", "seed", "acceptance",
                             "repetition-penalty", "max-new-tokens"}) {
      made.push_back(OptionFrom(OcrOptions(), name, "Where a line says nothing"));
    }
    for (const char* name :
         {"model", "precision", "packed", "packed-dir", "attention", "draft-length", "drafters",
          "draft-policy", "draft-head", "draft-vocabulary"}) {
      made.push_back(OptionFrom(OcrOptions(), name, "Model and decoding"));
    }
    for (const char* name : {"max-pixels"}) {
      made.push_back(OptionFrom(OcrOptions(), name, "Images"));
    }
    for (const char* name : {"threads", "isa", "kv-cache-mib", "log-level", "help"}) {
      made.push_back(OptionFrom(OcrOptions(), name, "Machine and messages"));
    }
    return made;
  }();
  return table;
}

// What a line was, until its answer comes.
struct Pending {
  int64_t number = 0;
  std::string id;
  std::string hash;
  std::vector<std::string> stop_strings;
  bool lossless = true;
};

// Thrown where the user has asked to stop: what is written is complete.
struct StoppedEarly {};

class Run {
 public:
  Run(const Settings& settings, RequestsFile& requests, ResultsFile& results, const Model& model,
      Session& session)
      : requests_(requests), results_(results), model_(model), session_(session) {
    defaults_.folder = requests.folder();
    defaults_.prompts = model.snapshot().reading.prompts;
    defaults_.sampling = SamplingFrom(settings);
    defaults_.max_new_tokens = static_cast<int>(settings.Integer("max-new-tokens"));
    defaults_.max_pixels = settings.Integer("max-pixels");
    const std::string settings_text =
        fmt::format("{} {} {} {} {} {} {} {} {}", PLATEN_VERSION, ModelId(model),
                    PrecisionName(model.precision()), VisionAttentionName(model.attention()),
                    settings.Text("temperature"), settings.Text("top-k"), settings.Text("top-p"),
                    settings.Text("repetition-penalty"), settings.Text("max-new-tokens"));
    fingerprint_ = settings_text + " " + settings.Text("seed") + " " + settings.Text("acceptance");
    if (!settings.Text("metrics").empty()) {
      metrics_.emplace(settings.Text("metrics"));
    }
  }

  void Go() {
    session_.Stream([&] { return Next(); }, [&](Session::Result r) { Done(std::move(r)); });
    if (!results_.kept().empty()) ThrowOtherRequests(results_.kept().front());
    results_.Sync();
  }

  int64_t read = 0, failed = 0, kept = 0;

 private:
  std::optional<Session::Asked> Next() {
    RequestsFile::Line line;
    while (requests_.Next(line)) {
      Pending pending = {line.number, "", HashOf(line.text), {}, true};
      if (TakeKept(pending)) continue;
      Session::Asked asked;
      try {
        if (line.too_long) {
          throw Error(ErrorKind::kInput, {},
                      "has more than " + Grouped(kMostRequestLineBytes) + " bytes");
        }
        RequestLine request = ReadRequestLine(line.text, model_, defaults_);
        pending.id = std::move(request.id);
        pending.stop_strings = request.request.stop_strings;
        pending.lossless = request.request.sampling.lossless();
        asked.request = std::move(request.request);
      } catch (const Error& e) {
        if (e.kind() == ErrorKind::kEnvironment) throw;
        pending.id = IdOfRequestLine(line.text);
        asked.error = e.what();
      }
      pending_.push_back(std::move(pending));
      return asked;
    }
    return std::nullopt;
  }

  std::string HashOf(const std::string& text) const {
    Hasher hasher;
    hasher.Add(fingerprint_);
    hasher.Add(text);
    return hasher.Hex();
  }

  // Whether an earlier run has answered the line.
  bool TakeKept(const Pending& pending) {
    if (results_.kept().empty()) return false;
    const ResultsFile::Kept& result = results_.kept().front();
    if (result.line != pending.number || result.request != pending.hash) {
      ThrowOtherRequests(result);
    }
    ++kept;
    failed += result.failed ? 1 : 0;
    results_.kept().pop_front();
    return true;
  }

  [[noreturn]] void ThrowOtherRequests(const ResultsFile::Kept& result) const {
    throw Error(ErrorKind::kUsage, {results_.path(), ""},
                "holds answers to other requests, or of another model or other options (line " +
                    std::to_string(result.line) +
                    "); give another -o, or --force to write it anew");
  }

  void Done(Session::Result result) {
    if (Interrupted()) throw StoppedEarly();
    const Pending pending = std::move(pending_.front());
    pending_.pop_front();
    Json json = {{"line", pending.number}};
    if (!pending.id.empty()) json["id"] = ToValidUtf8(pending.id);
    if (result.error.empty()) {
      AddAnswer(result.sequence->result, pending, json);
      ++read;
    } else {
      json["error"] = ToValidUtf8(result.error);
      Log(LogLevel::kWarning, requests_.Where(pending.number) + ": " + result.error);
      ++failed;
    }
    json["request"] = pending.hash;
    results_.Append(json.dump());
    if (SecondsSince(synced_ns_) > kSyncEveryS) {
      results_.Sync();
      synced_ns_ = MonotonicNs();
    }
    if (metrics_ && result.sequence) AddMetrics(result.sequence->result, pending);
  }

  void AddAnswer(const SequenceResult& answer, const Pending& pending, Json& json) const {
    std::string text = DecodeTokens(model_.tokenizer(), answer.tokens).text;
    CutAtStopString(pending.stop_strings, text);
    json["text"] = ToValidUtf8(text);
    json["finish"] = FinishReasonName(answer.finish);
    json["tokens"] = answer.tokens.size();
    if (!answer.probabilities.empty()) {
      double sum = 0, least = 1;
      for (const float p : answer.probabilities) {
        sum += static_cast<double>(p);
        least = std::min(least, static_cast<double>(p));
      }
      const auto rounded = [](double p) { return std::round(p * 1e4) / 1e4; };
      json["confidence"] = {
          {"mean", rounded(sum / static_cast<double>(answer.probabilities.size()))},
          {"min", rounded(least)}};
    }
    json["prompt_tokens"] = answer.prompt_tokens;
    json["image_tokens"] = answer.image_tokens;
    if (!pending.lossless) json["lossless"] = false;
  }

  void AddMetrics(const SequenceResult& answer, const Pending& pending) {
    Json json = {{"line", pending.number}};
    if (!pending.id.empty()) json["id"] = ToValidUtf8(pending.id);
    json["rounds"] = answer.stats.rounds;
    json["drafted"] = answer.stats.drafted;
    json["accepted"] = answer.stats.accepted;
    json["preemptions"] = answer.stats.preemptions;
    metrics_->Append(json.dump());
  }

  RequestsFile& requests_;
  ResultsFile& results_;
  const Model& model_;
  Session& session_;
  RequestDefaults defaults_;
  std::string fingerprint_;
  std::optional<MetricsFile> metrics_;
  std::deque<Pending> pending_;
  int64_t synced_ns_ = MonotonicNs();
};

}  // namespace

const CommandSpec& RunCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen run REQUESTS.jsonl [-o RESULTS.jsonl] [options]"},
      .description =
          "Reads requests, one JSON object on each line, and writes an answer for each, in the "
          "same order. Each line may have its own images, prompt, limits, sampling and "
          "drafting. A line that cannot be read gets an answer that says why. The same command "
          "again goes on where an interrupted one stopped. - reads standard input.\n\n"
          "  {\"id\": \"p1\", \"images\": [\"crops/a.png\"], \"task\": \"text\"}\n"
          "  {\"id\": \"p2\", \"images\": [{\"path\": \"b.pdf\", \"page\": 3}], \"prompt\": "
          "\"Table Recognition:\",\n"
          "   \"max_new_tokens\": 400, \"temperature\": 0.2, \"seed\": 7, \"stop\": "
          "[\"</table>\"]}\n\n"
          "docs/REQUESTS.md lists all keys.\n",
      .options = RunOptionTable(),
      .argument = {.kind = Argument::Kind::kFiles}};
  return spec;
}

int RunRunCommand(const Words& words) {
  const auto parsed = ParseCommand(RunCommand(), words);
  if (!parsed) return kExitDone;
  const Settings& settings = *parsed;
  if (settings.positional().size() != 1) {
    throw Error(ErrorKind::kUsage, {"", "run"},
                "name one file of requests, or - for standard input");
  }
  SetLogLevel(settings.Text("log-level"));
  SamplingFrom(settings);  // before anything is opened
  RequestsFile requests(settings.positional().front());
  ResultsFile results(settings.Text("output"), settings.Flag("force"));
  LimitThreads(ThreadsFrom(settings));
  CatchInterrupts();
  const std::unique_ptr<Model> model = LoadModelFrom(settings, LocateModel(settings.Text("model")));
  Session session(*model,
                  {.engine = EngineOptionsFrom(settings, *model, KvCacheBytesFrom(settings))});
  const int64_t start_ns = MonotonicNs();
  Run run(settings, requests, results, *model, session);
  bool stopped = false;
  try {
    run.Go();
  } catch (const StoppedEarly&) {
    results.Sync();
    stopped = true;
  }
  Log(LogLevel::kInfo, fmt::format("{} answered{}{} in {:.1f} s", Counted(run.read, "request"),
                                   run.kept > 0 ? fmt::format(", {} before", run.kept) : "",
                                   run.failed > 0 ? fmt::format(", {} failed", run.failed) : "",
                                   SecondsSince(start_ns)));
  if (stopped) return kExitInterrupted;
  return run.failed > 0 ? kExitSomeFailed : kExitDone;
}

}  // namespace platen
