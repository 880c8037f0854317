#include "bench/decode_bench.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "bench/oracle_drafter.h"
#include "model/engine/drafters/own_drafter.h"
#include "model/engine/engine.h"
#include "model/support/clock.h"
#include "model/support/error.h"

namespace platen::bench {
namespace {

constexpr int64_t kPromptTokens = 128;

EngineOptions OptionsFor(int drafts, WarmUp warm_up = WarmUp::kAuto) {
  EngineOptions options;
  options.warm_up = warm_up;
  options.adaptive_drafts = drafts == DecodeRow::kAdaptive;
  options.draft_length = options.adaptive_drafts ? 4 : drafts;
  return options;
}

// What one repetition of one configuration gave.
struct Sample {
  double seconds = 0;
  int64_t tokens = 0;
  EngineStats stats;  // of the repetition alone
};

EngineStats Difference(EngineStats now, const EngineStats& before) {
  now.steps -= before.steps;
  now.rows -= before.rows;
  now.rounds -= before.rounds;
  now.drafted_rounds -= before.drafted_rounds;
  now.decoded_tokens -= before.decoded_tokens;
  now.draft_s -= before.draft_s;
  now.verify_s -= before.verify_s;
  for (size_t j = 0; j < now.drafted_at.size(); ++j) {
    now.drafted_at[j] -= before.drafted_at[j];
    now.accepted_at[j] -= before.accepted_at[j];
  }
  return now;
}

// One way to decode, measured again and again in turn with others.
class Configuration {
 public:
  Configuration(const Model& model, int64_t sequences, int drafts, double acceptance,
                const EngineOptions& options)
      : engine_(std::make_unique<Engine>(model, options)) {
    row_.sequences = sequences;
    row_.drafts = drafts;
    row_.acceptance = acceptance;
  }

  Engine& engine() { return *engine_; }
  int drafts() const { return row_.drafts; }
  const std::vector<Sample>& samples() const { return samples_; }
  void DropLast() { samples_.pop_back(); }

  // Times rounds until `done` says so.
  template <typename Done, typename BetweenRounds>
  void Time(const Done& done, const BetweenRounds& between) {
    const EngineStats before = engine_->stats();
    Sample sample;
    while (!done(*engine_, before)) {
      const int64_t start_ns = MonotonicNs();
      auto finished = engine_->Step();
      sample.seconds += SecondsSince(start_ns);
      between(std::move(finished));
    }
    sample.stats = Difference(engine_->stats(), before);
    sample.tokens = sample.stats.decoded_tokens;
    samples_.push_back(std::move(sample));
  }

  DecodeRow Row(const std::vector<Sample>& plain) const;

 private:
  std::unique_ptr<Engine> engine_;
  DecodeRow row_;
  std::vector<Sample> samples_;
};

double Ratio(double a, double b) { return b == 0 ? 0 : a / b; }

double Sum(const std::vector<int64_t>& counts) {
  double sum = 0;
  for (const int64_t count : counts) sum += static_cast<double>(count);
  return sum;
}

// Tokens of a round whose k drafts are right with chance a each.
double ExpectedTokens(double a, int k) {
  double tokens = 1, chance = 1;
  for (int j = 0; j < k; ++j) tokens += chance *= a;
  return tokens;
}

DecodeRow Configuration::Row(const std::vector<Sample>& plain) const {
  DecodeRow row = row_;
  std::vector<double> speeds, speedups;
  double seconds = 0, tokens = 0, steps = 0, rows = 0, rounds = 0, draft = 0, verify = 0;
  double drafted = 0, accepted = 0, first = 0, first_right = 0;
  for (size_t i = 0; i < samples_.size(); ++i) {
    const Sample& s = samples_[i];
    const double speed = Ratio(static_cast<double>(s.tokens), s.seconds);
    speeds.push_back(speed);
    if (i < plain.size()) {
      speedups.push_back(speed / Ratio(static_cast<double>(plain[i].tokens), plain[i].seconds));
    }
    seconds += s.seconds;
    tokens += static_cast<double>(s.tokens);
    steps += static_cast<double>(s.stats.steps);
    rows += static_cast<double>(s.stats.rows);
    rounds += static_cast<double>(s.stats.rounds);
    draft += s.stats.draft_s;
    verify += s.stats.verify_s;
    drafted += Sum(s.stats.drafted_at);
    accepted += Sum(s.stats.accepted_at);
    if (s.stats.drafted_at.empty()) continue;
    first += static_cast<double>(s.stats.drafted_at[0]);
    first_right += static_cast<double>(s.stats.accepted_at[0]);
  }
  row.tokens_per_s = SpreadOf(speeds);
  if (!speedups.empty()) row.speedup = SpreadOf(speedups);
  row.tokens_per_round = Ratio(tokens, rounds);
  row.accepted_share = Ratio(accepted, drafted);
  row.first_draft_share = Ratio(first_right, first);
  row.rows_per_step = Ratio(rows, steps);
  row.draft_share = Ratio(draft, seconds);
  row.verify_share = Ratio(verify, seconds);
  row.overhead_share = 1 - row.draft_share - row.verify_share;
  if (row.acceptance > 0 && row.drafts > 0) {
    const double predicted = static_cast<double>(row.sequences) *
                             ExpectedTokens(row.acceptance, row.drafts) /
                             Ratio(draft + verify, steps);
    row.share_of_prediction = Ratio(tokens, seconds) / predicted;
  }
  return row;
}

// A prompt of so many tokens, without images: every tokenizer makes a control character one token.
Request PromptRequest(const Engine& engine, int max_new_tokens) {
  Request request;
  request.task_text = "\x01";
  request.max_new_tokens = max_new_tokens;
  request.ignore_stop = true;
  const int64_t around = engine.Prepare(request)->prompt_len() - 1;
  const int64_t count = std::max<int64_t>(1, kPromptTokens - around);
  request.task_text = std::string(static_cast<size_t>(count), '\x01');
  return request;
}

void Start(Engine& engine, Request request) {
  std::unique_ptr<Sequence> sequence = engine.Prepare(std::move(request));
  Sequence* raw = sequence.get();
  engine.EncodeImages(std::span(&raw, 1));
  if (!engine.TryReserve(*raw)) throw std::bad_alloc();
  engine.Prefill(std::span(&raw, 1));
  engine.Submit(std::move(sequence));
}

// Room for so many sequences of so many tokens.
int64_t CacheBytes(const Model& model, int64_t sequences, int64_t tokens) {
  constexpr int64_t kMargin = 64;  // ends of blocks
  return (sequences + 1) * (tokens + kMargin) *
         KvPool::TokenBytes(model.architecture().text().cache, KvTypeOf(model.precision()));
}

class OracleBench {
 public:
  OracleBench(const Model& model, const DecodeBenchOptions& options)
      : model_(model), options_(options) {
    // Some tokens more than every repetition decides.
    answer_tokens_ = (options.tokens + 8) * (options.repetitions + 1);
    EngineOptions plain = OptionsFor(0);
    Engine engine(model, plain);
    Start(engine, PromptRequest(engine, answer_tokens_));
    std::vector<std::unique_ptr<Sequence>> finished;
    while (finished.empty()) finished = engine.Step();
    const Sequence& s = *finished.front();
    answer_.assign(s.tokens.begin() + s.prompt_len(), s.tokens.end());
  }

  std::vector<DecodeRow> Run() {
    std::vector<DecodeRow> rows;
    for (const int64_t sequences : options_.batches) {
      std::vector<Configuration> all = Configurations(sequences);
      for (int r = -1; r < options_.repetitions; ++r) {  // -1: warm up
        for (Configuration& c : all) Repeat(c, sequences, r < 0);
      }
      const std::vector<Sample> plain = PlainOf(all);
      for (const Configuration& c : all) rows.push_back(c.Row(plain));
    }
    return rows;
  }

 private:
  std::vector<Configuration> Configurations(int64_t sequences) const {
    std::vector<Configuration> all;
    for (const int drafts : options_.drafts) {
      for (const double acceptance : options_.acceptances) {
        EngineOptions options = OptionsFor(drafts, options_.warm_up);
        options.kv_cache_bytes =
            CacheBytes(model_, sequences, kPromptTokens + int64_t{answer_tokens_});
        options.instruments.make_drafter = [&, acceptance](const Model& model, KvPool& pool) {
          EngineOptions own;
          own.draft_vocabulary = options_.draft_vocabulary;
          return std::make_unique<OracleDrafter>(MakeOwnDrafter(model, own, pool), answer_,
                                                 acceptance);
        };
        all.emplace_back(model_, sequences, drafts, drafts == 0 ? 0 : acceptance, options);
        for (int64_t i = 0; i < sequences; ++i) {
          Start(all.back().engine(), PromptRequest(all.back().engine(), answer_tokens_));
        }
        if (drafts == 0) break;  // the same for every acceptance
      }
    }
    return all;
  }

  void Repeat(Configuration& c, int64_t sequences, bool warm_up) const {
    const int64_t wanted = sequences * options_.tokens;
    c.Time(
        [&](const Engine& engine, const EngineStats& before) {
          return engine.stats().decoded_tokens - before.decoded_tokens >= wanted;
        },
        [](const auto&) {});
    if (warm_up) c.DropLast();
  }

  static std::vector<Sample> PlainOf(const std::vector<Configuration>& all) {
    for (const Configuration& c : all) {
      if (c.drafts() == 0) return c.samples();
    }
    return {};
  }

  const Model& model_;
  const DecodeBenchOptions& options_;
  int answer_tokens_ = 0;
  std::vector<TokenId> answer_;
};

// The crops, at most so many at once, in order; those that finish make room for the next.
void ReadCrops(Configuration& c, const std::vector<Request>& requests, int64_t sequences) {
  size_t next = 0;
  const auto refill = [&] {
    while (next < requests.size() && static_cast<int64_t>(c.engine().live()) < sequences) {
      Start(c.engine(), requests[next++]);
    }
  };
  refill();
  c.Time([&](const Engine& engine, const EngineStats&) { return engine.live() == 0; },
         [&](const auto& finished) {
           if (!finished.empty()) refill();
         });
}

}  // namespace

std::vector<DecodeRow> RunOracleBench(const Model& model, const DecodeBenchOptions& options) {
  if (!model.drafts()) {
    throw Error(ErrorKind::kModel, {}, "the model has no draft layer: nothing to measure");
  }
  return OracleBench(model, options).Run();
}

std::vector<DecodeRow> RunHeadBench(const Model& model, const std::vector<Image>& crops,
                                    const std::string& task, const DecodeBenchOptions& options) {
  std::vector<Request> requests;
  for (const Image& crop : crops) {
    requests.push_back(MakeRequest(*model.vision(), crop, {.task_text = task}));
  }
  std::vector<DecodeRow> rows;
  for (const int64_t sequences : options.batches) {
    std::vector<Configuration> all;
    for (const int drafts : options.drafts) {
      EngineOptions engine = OptionsFor(drafts, options.warm_up);
      engine.drafters = options.drafters;
      engine.draft_vocabulary = options.draft_vocabulary;
      all.emplace_back(model, sequences, drafts, 0.0, engine);
    }
    for (int r = -1; r < options.repetitions; ++r) {
      for (Configuration& c : all) {
        ReadCrops(c, requests, sequences);
        if (r < 0) c.DropLast();
      }
    }
    std::vector<Sample> plain;
    for (const Configuration& c : all) {
      if (c.drafts() == 0) plain = c.samples();
    }
    for (const Configuration& c : all) rows.push_back(c.Row(plain));
  }
  return rows;
}

}  // namespace platen::bench
