#include "bench/mtp_from_scratch/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/mtp_from_scratch/chart.h"
#include "bench/mtp_from_scratch/report.h"

namespace platen::bench {
namespace {

constexpr const char* kChain = "#3182bd";
constexpr const char* kIndependent = "#fdae6b";
constexpr const char* kRight = "#9ecae1";
constexpr const char* kWrong = "#fdd0a2";
constexpr const char* kUnused = "#eeeeee";  // right, but behind one that is wrong

std::vector<Key> DepthKeys(size_t depths) {
  std::vector<Key> keys;
  for (size_t k = 0; k < depths; ++k) {
    keys.push_back({DepthColour(static_cast<int>(k)), fmt::format("depth {}", k)});
  }
  return keys;
}

// A line for each depth over the steps of a run; value(point, depth).
template <class Value>
Panel PanelOf(const TextRun& run, size_t depths, const Value& value) {
  Panel panel;
  panel.title = run.name;
  panel.x_label = "steps";
  panel.x_end = static_cast<double>(run.curve.back().step);
  for (size_t k = 0; k < depths; ++k) {
    Line line = {DepthColour(static_cast<int>(k)), {}};
    for (const CurvePoint& point : run.curve) {
      line.points.emplace_back(static_cast<double>(point.step), value(point, k));
    }
    panel.lines.push_back(std::move(line));
  }
  return panel;
}

size_t DepthsOf(const TextResult& result) {
  return result.runs.front().curve.front().weights.size();
}

// The two rows of one kind of data and target, as bars from `left`.
void DrawRows(const TableRow& chain, const TableRow& independent, double left, double width,
              double ground, double height, XmlWriter& xml) {
  const auto depths = static_cast<int>(chain.repeats.front().accuracy.size());
  const double slot = width / depths;
  for (int k = 0; k < depths; ++k) {
    double x = left + slot * k + slot * 0.1;
    for (const auto& [row, colour] : {std::pair{&chain, kChain}, {&independent, kIndependent}}) {
      const double share = AccuracyOf(*row, k).mean;
      DrawBox(x, ground - height * share, slot * 0.38, height * share, colour, xml);
      DrawText(x + slot * 0.19, ground - height * share - 3, "middle", fmt::format("{:.2f}", share),
               xml);
      x += slot * 0.4;
    }
    DrawText(left + slot * (k + 0.5), ground + 15, "middle", fmt::format("{}", k), xml);
  }
}

// One table of guesses, from (left, top).
void DrawGuessTable(const TextResult& result, const std::vector<MtpGuess>& guesses, double left,
                    double top, XmlWriter& xml) {
  constexpr double kCell = 44, kRow = 20;
  bool chain_right = true;
  for (const MtpGuess& guess : guesses) {
    const double y = top + kRow * static_cast<double>(guess.place);
    if (guess.depth == 0) {
      chain_right = true;
      const TokenId token = result.piece[static_cast<size_t>(guess.place)];
      DrawText(left + 16, y + 14, "middle", TokenText(token, &result.alphabet), xml);
    }
    const bool hit = guess.guess == guess.label;
    const char* colour = !hit ? kWrong : chain_right ? kRight : kUnused;
    chain_right = chain_right && hit;
    const double x = left + 36 + 2 * kCell * guess.depth;
    DrawText(x + kCell - 8, y + 14, "end", TokenText(guess.label, &result.alphabet), xml);
    DrawBox(x + kCell, y + 1, kCell - 4, kRow - 2, colour, xml);
    DrawText(x + 1.5 * kCell - 2, y + 14, "middle", TokenText(guess.guess, &result.alphabet), xml);
  }
}

}  // namespace

std::string DrawTable(const TableResult& result, double chance) {
  constexpr double kWidth = 220, kGap = 26, kLeft = 40, kGround = 200, kHeight = 150;
  const double groups = std::ceil(static_cast<double>(result.rows.size()) / 2);
  const double width = kLeft + groups * (kWidth + kGap);
  XmlWriter xml;
  OpenPicture(width, 262, "Accuracy of guesses at depths 0, 1 and 2", xml);
  const double chance_y = kGround - kHeight * chance;
  for (size_t i = 0; i + 1 < result.rows.size(); i += 2) {
    const double left = kLeft + (kWidth + kGap) * static_cast<double>(i) / 2;
    const TableRow& row = result.rows[i];
    DrawText(left, 20, "start",
             fmt::format("accuracy, {} tokens, label {}", NameOf(row.data), NameOf(row.target)),
             xml);
    DrawRows(row, result.rows[i + 1], left, kWidth, kGround, kHeight, xml);
    xml.Empty("line", {{"x1", fmt::format("{:.1f}", left)},
                       {"x2", fmt::format("{:.1f}", left + kWidth)},
                       {"y1", fmt::format("{:.1f}", chance_y)},
                       {"y2", fmt::format("{:.1f}", chance_y)},
                       {"stroke", "#cc0000"},
                       {"stroke-dasharray", "4 3"}});
    DrawText(left + kWidth / 2, kGround + 30, "middle", "depth", xml);
  }
  DrawKeys(kLeft, 252,
           {{kChain, "causal chain"},
            {kIndependent, "independent heads"},
            {"#cc0000", "chance (dashed)"}},
           xml);
  xml.Close();
  return xml.Take();
}

std::string DrawCurves(const TextResult& result) {
  const size_t depths = DepthsOf(result);
  std::vector<Panel> panels;
  double least = 1e9, most = 0;
  for (size_t r = 0; r < 2; ++r) {
    panels.push_back(PanelOf(result.runs[r], depths, [](const CurvePoint& point, size_t k) {
      return point.held_out.loss[k];
    }));
    for (const CurvePoint& point : result.runs[r].curve) {
      for (const double loss : point.held_out.loss) {
        least = std::min(least, loss);
        most = std::max(most, loss);
      }
    }
  }
  for (Panel& panel : panels) {
    panel.title += ": loss on held-out text";
    panel.y_begin = std::floor(least * 2) / 2;
    panel.y_end = std::ceil(most * 2) / 2;
  }
  return DrawPanels(panels, DepthKeys(depths), "Loss on held-out text against steps");
}

std::string DrawWeights(const TextResult& result) {
  std::vector<Panel> panels;
  for (const TextRun& run : result.runs) {
    if (!run.weights.learned) continue;
    panels.push_back(PanelOf(run, DepthsOf(result),
                             [](const CurvePoint& point, size_t k) { return point.weights[k]; }));
    panels.back().title += ": weights";
  }
  return DrawPanels(panels, DepthKeys(DepthsOf(result)), "Learned weights of depths against steps");
}

std::string DrawGuesses(const TextResult& result) {
  const auto depths = static_cast<double>(DepthsOf(result));
  const double width = 60 + 88 * depths;
  const double rows = static_cast<double>(result.after.size()) / depths;
  XmlWriter xml;
  OpenPicture(2 * width, 92 + 20 * rows, "Guesses before and after training", xml);
  for (const auto& [title, guesses, left] : {std::tuple{"before training", &result.before, 12.0},
                                             {"after", &result.after, width + 12}}) {
    DrawText(left, 18, "start", title, xml);
    DrawText(left + 16, 42, "middle", "t_i", xml);
    for (int k = 0; k < static_cast<int>(depths); ++k) {
      DrawText(left + 36 + 88 * k + 80, 42, "end", fmt::format("t_i+{}  guess", k + 2), xml);
    }
    DrawGuessTable(result, *guesses, left, 50, xml);
  }
  DrawKeys(12, 80 + 20 * rows,
           {{kRight, "accepted"}, {kWrong, "wrong"}, {kUnused, "right, but behind a wrong one"}},
           xml);
  xml.Close();
  return xml.Take();
}

}  // namespace platen::bench
