#include "model/engine/forward.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "model/engine/session.h"
#include "model/support/error.h"
#include "model/support/npy_writer.h"

namespace platen {
namespace {

constexpr size_t kTopTokens = 5;

bool IsDumped(const std::string& stage) {
  return stage.starts_with("vision_") || stage.starts_with("layer") || stage == "hidden";
}

// Writes the engine's intermediate results as they appear.
class Dump {
 public:
  explicit Dump(std::string dir) : dir_(std::move(dir)) {}

  bool enabled() const { return !dir_.empty(); }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }

  void Stage(const std::string& name, ConstMatView rows) const {
    if (enabled() && IsDumped(name)) Matrix(name, rows);
  }
  void Matrix(const std::string& name, ConstMatView rows) const {
    std::vector<float> values;
    for (int64_t r = 0; r < rows.rows; ++r) {
      values.insert(values.end(), rows.Row(r), rows.Row(r) + rows.cols);
    }
    WriteNpy(Path(name + ".npy"), std::span<const float>(values), {rows.rows, rows.cols});
  }

 private:
  std::string dir_;
};

void DumpInputs(const Dump& dump, const Model& model, const Sequence& s) {
  const std::vector<int64_t> ids(s.prompt.input_ids.begin(), s.prompt.input_ids.end());
  const auto length = static_cast<int64_t>(ids.size());
  WriteNpy(dump.Path("input_ids.npy"), std::span<const int64_t>(ids), {length});
  std::vector<int64_t> positions;
  for (const auto& axis : s.prompt.positions) {
    positions.insert(positions.end(), axis.begin(), axis.end());
  }
  WriteNpy(dump.Path("position_ids.npy"), std::span<const int64_t>(positions), {3, length});

  if (s.request.images.empty()) return;
  const auto values = static_cast<size_t>(model.architecture().vision()->patch_values);
  std::vector<float> pixels;
  for (const PreparedImage& image : s.request.images) {
    const size_t old = pixels.size();
    pixels.resize(old + static_cast<size_t>(image.grid.num_patches()) * values);
    model.vision()->WritePatches(image, std::span(pixels).subspan(old));
  }
  WriteNpy(dump.Path("pixel_values.npy"), std::span<const float>(pixels),
           {static_cast<int64_t>(pixels.size() / values), static_cast<int64_t>(values)});
}

// The most likely tokens of a row of logits, lowest id first among equals.
std::vector<TopToken> TopOf(const Model& model, std::span<const float> logits) {
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const size_t count = std::min(kTopTokens, ids.size());
  std::partial_sort(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(count), ids.end(),
                    [&](TokenId a, TokenId b) {
                      const float x = logits[static_cast<size_t>(a)];
                      const float y = logits[static_cast<size_t>(b)];
                      return x != y ? x > y : a < b;
                    });
  const double best = logits[static_cast<size_t>(ids[0])];
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - best);
  std::vector<TopToken> top;
  for (size_t i = 0; i < count; ++i) {
    const float logit = logits[static_cast<size_t>(ids[i])];
    const double probability = std::exp(static_cast<double>(logit) - best) / sum;
    top.push_back({ids[i], logit, static_cast<float>(probability),
                   model.tokenizer().Decode({&ids[i], 1}, false)});
  }
  return top;
}

void DumpResult(const Dump& dump, const ForwardResult& result, const Sequence& s) {
  nlohmann::ordered_json json;
  json["prompt"] = result.prompt.text;
  json["tokens"] = std::vector<TokenId>(s.tokens.begin() + s.prompt_len(), s.tokens.end());
  json["text"] = result.text;
  json["rounds"] = nlohmann::ordered_json::array();
  for (const Round& round : result.rounds) {
    json["rounds"].push_back({{"drafts", round.drafts},
                              {"target_argmax", round.target_argmax},
                              {"accepted", round.accepted},
                              {"emitted", round.emitted}});
  }
  const std::string path = dump.Path("result.json");
  std::ofstream out(path);
  out << json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  out.close();
  if (!out) throw Error(ErrorKind::kEnvironment, {.file = path, .field = {}}, "cannot write");
}

// The cache for exactly one request, unless the caller asks for a size.
int64_t CacheBytes(const Model& model, const Request& request, const ForwardOptions& options) {
  if (options.kv_cache_bytes > 0) return options.kv_cache_bytes;
  // The template's tokens, drafts beyond the answer, and the ends of blocks.
  constexpr int64_t kMargin = 256;
  constexpr int64_t kAroundImage = 2;
  int image_tokens = 0;
  for (const PreparedImage& image : request.images) image_tokens += image.grid.num_image_tokens();
  const int64_t answer =
      request.max_new_tokens > 0 ? request.max_new_tokens : DefaultTokenLimit(image_tokens);
  const auto text_bytes = static_cast<int64_t>(request.task_text.size());  // a token has a byte
  const auto images = static_cast<int64_t>(request.images.size());
  const int64_t tokens = text_bytes + image_tokens + kAroundImage * images + answer + kMargin;
  return tokens *
         KvPool::TokenBytes(model.architecture().text().cache, KvTypeOf(model.precision()));
}

}  // namespace

ForwardResult RunForward(const Model& model, Request request, const ForwardOptions& options) {
  const Dump dump(options.dump_dir);
  const bool all_logits = dump.enabled() && options.dumped_logits == DumpedLogits::kAll;
  ForwardResult result;
  result.logits = {1, model.architecture().text().vocab_size};
  if (all_logits) {
    result.logits = ShapeOfAllLogits(model, request, options.answer, options.max_logits_bytes);
  }
  std::vector<float> logits;
  EngineOptions engine_options;
  engine_options.draft_length = options.draft_length;
  engine_options.kv_cache_bytes = CacheBytes(model, request, options);
  EngineInstruments& instruments = engine_options.instruments;
  instruments.mtp_convention = options.mtp_convention;
  instruments.observer = [&](const std::string& name, ConstMatView rows) {
    if (name == "logits_last") logits.assign(rows.data, rows.data + rows.cols);
    dump.Stage(name, rows);
  };
  instruments.on_round = [&](const Round& round) { result.rounds.push_back(round); };
  Session session(model, {.engine = engine_options});
  std::vector<Request> requests;
  requests.push_back(std::move(request));
  Session::Result read = std::move(session.Run(std::move(requests)).front());
  if (read.sequence == nullptr) throw Error(ErrorKind::kInput, {}, read.error);
  const Sequence* s = read.sequence.get();

  result.prompt = s->prompt;
  result.top = TopOf(model, logits);
  result.recognition = s->result;
  result.text = model.tokenizer().Decode(s->result.tokens, true);
  result.stats = session.stats();
  if (dump.enabled()) {
    DumpInputs(dump, model, *s);
    WriteNpy(dump.Path("logits_last.npy"), std::span<const float>(logits), {result.logits.vocab});
    DumpResult(dump, result, *s);
  }
  if (all_logits) WriteAllLogits(model, *s, options.answer, dump.Path("logits.npy"));
  return result;
}

Image SyntheticImage(uint64_t seed, int width, int height) {
  Image image(width, height);
  for (uint8_t& value : image.rgb) {
    seed += 0x9E3779B97F4A7C15ULL;  // splitmix64
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    value = static_cast<uint8_t>((z ^ (z >> 31)) >> 56);
  }
  return image;
}

}  // namespace platen
