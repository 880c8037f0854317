#include "bench/mtp_from_scratch/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace platen::bench {
namespace {

template <class Value>
Figures FiguresOf(const TableRow& row, const Value& value) {
  std::vector<double> values;
  for (const MtpScore& score : row.repeats) values.push_back(value(score));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low,
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          *high};
}

std::string Joined(const std::vector<double>& values, const char* format) {
  std::string text;
  for (const double value : values) {
    text += (text.empty() ? "" : " / ") + fmt::format(fmt::runtime(format), value);
  }
  return text;
}

}  // namespace

Figures AccuracyOf(const TableRow& row, int depth) {
  return FiguresOf(row, [&](const MtpScore& s) { return s.accuracy[static_cast<size_t>(depth)]; });
}

Figures LossOf(const TableRow& row) {
  return FiguresOf(row, [](const MtpScore& score) { return score.mean_loss(); });
}

Expected ExpectedOf(const TableRow& row) {
  const bool chain = row.heads == MtpHeads::kCausal, table = row.data == MadeUp::kTable;
  if (row.target == MtpTarget::kFed) return {.loss = 0.0003, .accuracy = {1, 1, 1}};
  if (!table && chain) return {.loss = 2.773, .accuracy = {0.063, 0.063, 0.063}};
  if (!table) return {.loss = 2.773, .accuracy = {0.066, 0.064, 0.064}};
  if (chain) return {.loss = 0.359, .accuracy = {0.951, 0.952, 0.952}};
  return {.loss = 1.110, .accuracy = {0.706, 0.627, 0.606}};
}

std::string TableText(const TableResult& result, bool defaults) {
  std::string text =
      fmt::format("{:7} {:9} {:12} {:>8}{}  {}\n", "data", "label", "heads", "loss",
                  defaults ? " (expected)" : "", "accuracy by depth: mean (lowest .. highest)");
  for (const TableRow& row : result.rows) {
    const Expected expected = ExpectedOf(row);
    text += fmt::format("{:7} {:9} {:12} {:8.4f}", NameOf(row.data), NameOf(row.target),
                        NameOf(row.heads), LossOf(row).mean);
    if (defaults) text += fmt::format("   ({:6.4f})", expected.loss);
    for (int k = 0; k < static_cast<int>(row.repeats.front().accuracy.size()); ++k) {
      const Figures accuracy = AccuracyOf(row, k);
      text +=
          fmt::format("  {:.3f} ({:.3f} .. {:.3f})", accuracy.mean, accuracy.low, accuracy.high);
      if (defaults) text += fmt::format(" exp. {:.3f}", expected.accuracy[k]);
    }
    text += "\n";
  }
  return text;
}

std::string TokenText(TokenId id, const std::vector<uint8_t>* alphabet) {
  if (alphabet == nullptr) return std::to_string(id);
  const uint8_t byte = (*alphabet)[static_cast<size_t>(id)];
  if (byte == '\n') return "\\n";
  if (byte == '\t') return "\\t";
  if (byte < 0x20 || byte >= 0x7F) return fmt::format("\\x{:02X}", byte);
  return byte == ' ' ? "_" : std::string(1, static_cast<char>(byte));
}

std::string GuessesText(const std::vector<TokenId>& sequence, const std::vector<MtpGuess>& before,
                        const std::vector<MtpGuess>& after, const std::vector<uint8_t>* alphabet) {
  int depths = 0;
  for (const MtpGuess& guess : after) depths = std::max(depths, guess.depth + 1);
  std::string text = fmt::format("{:>5} {:>5}", "place", "token");
  for (int k = 0; k < depths; ++k) text += fmt::format("  {:25}", fmt::format("depth {}", k));
  text += "\n           ";
  for (int k = 0; k < depths; ++k) {
    text += fmt::format("  {:>5} {:>9} {:>9}", "label", "before", "after");
  }
  text += "\n";
  for (size_t g = 0; g < after.size(); ++g) {
    if (after[g].depth == 0) {
      const auto place = static_cast<size_t>(after[g].place);
      text += fmt::format("{:5} {:>5}", place, TokenText(sequence[place], alphabet));
    }
    const auto cell = [&](const MtpGuess& guess) {
      return fmt::format("{}{} {:3.0f}%", TokenText(guess.guess, alphabet),
                         guess.guess == guess.label ? "" : " no", 100 * guess.probability);
    };
    text += fmt::format("  {:>5} {:>9} {:>9}", TokenText(after[g].label, alphabet), cell(before[g]),
                        cell(after[g]));
    if (after[g].depth + 1 == depths) text += "\n";
  }
  return text;
}

std::string TextText(const TextResult& result) {
  std::string text =
      fmt::format("{} bytes, {} different ones\n", result.bytes, result.alphabet.size());
  for (size_t r = 0; r < std::min<size_t>(2, result.runs.size()); ++r) {
    text += fmt::format("\n{}\n{:>6} {:>9}  {}\n", result.runs[r].name, "step", "training",
                        "held out, by depth");
    for (const CurvePoint& point : result.runs[r].curve) {
      const std::string training =
          point.step == 0 ? "-" : fmt::format("{:.3f}", point.training_loss);
      text += fmt::format("{:6} {:>9}  {}\n", point.step, training,
                          Joined(point.held_out.loss, "{:.3f}"));
    }
  }
  text += fmt::format("\n{:33} {:23} {:23} {:>8}  {}\n", "at the end", "loss by depth",
                      "accuracy by depth", "accepted", "weights");
  for (const TextRun& run : result.runs) {
    const CurvePoint& end = run.curve.back();
    text +=
        fmt::format("{:33} {:23} {:23} {:8.3f}  {}\n", run.name,
                    Joined(end.held_out.loss, "{:.3f}"), Joined(end.held_out.accuracy, "{:.3f}"),
                    end.held_out.accepted, Joined(end.weights, "{:.2f}"));
  }
  return text;
}

}  // namespace platen::bench
