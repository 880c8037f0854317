#include "bench/mtp_from_scratch/results_json.h"

#include <cmath>

namespace platen::bench {
namespace {

using nlohmann::ordered_json;

// Five digits: more are noise.
double Short(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10, 4 - std::floor(std::log10(std::abs(value))));
  return std::round(value * unit) / unit;
}

ordered_json Short(const std::vector<double>& values) {
  ordered_json list = ordered_json::array();
  for (const double value : values) list.push_back(Short(value));
  return list;
}

ordered_json ToJson(const MtpScore& score) {
  return {{"loss", Short(score.loss)},
          {"accuracy", Short(score.accuracy)},
          {"accepted", Short(score.accepted)}};
}

ordered_json ToJson(const std::vector<MtpGuess>& guesses) {
  ordered_json list = ordered_json::array();
  for (const MtpGuess& guess : guesses) {
    list.push_back({guess.place, guess.depth, guess.label, guess.guess, Short(guess.probability)});
  }
  return list;
}

}  // namespace

ordered_json ToJson(const TrainingOptions& options) {
  const MtpSizes& sizes = options.sizes;
  return {{"length", sizes.length},
          {"width", sizes.width},
          {"inner", sizes.inner},
          {"depths", sizes.depths},
          {"steps", options.steps},
          {"batch", options.batch},
          {"rate", options.rate},
          {"seed", options.seed},
          {"test_sequences", options.test_sequences}};
}

ordered_json ToJson(const TableResult& result) {
  ordered_json rows = ordered_json::array();
  for (const TableRow& row : result.rows) {
    ordered_json repeats = ordered_json::array();
    for (const MtpScore& score : row.repeats) repeats.push_back(ToJson(score));
    rows.push_back({{"data", NameOf(row.data)},
                    {"target", NameOf(row.target)},
                    {"heads", NameOf(row.heads)},
                    {"repeats", repeats}});
  }
  return {{"rows", rows},
          {"guess_fields", {"place", "depth", "label", "guess", "probability of the label"}},
          {"sequence", result.sequence},
          {"before", ToJson(result.before)},
          {"after", ToJson(result.after)}};
}

ordered_json ToJson(const TextResult& result) {
  ordered_json runs = ordered_json::array();
  for (const TextRun& run : result.runs) {
    ordered_json curve = ordered_json::array();
    for (const CurvePoint& point : run.curve) {
      ordered_json item = {{"step", point.step},
                           {"held_out", ToJson(point.held_out)},
                           {"weights", Short(point.weights)}};
      if (point.step > 0) item["training_loss"] = Short(point.training_loss);
      curve.push_back(std::move(item));
    }
    runs.push_back({{"name", run.name}, {"heads", NameOf(run.heads)}, {"curve", curve}});
  }
  return {
      {"bytes", result.bytes}, {"alphabet", result.alphabet},     {"runs", runs},
      {"piece", result.piece}, {"before", ToJson(result.before)}, {"after", ToJson(result.after)}};
}

}  // namespace platen::bench
