#include "apps/platen/commands/tune/inspect/inspect_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "apps/platen/cli/html_page.h"
#include "apps/platen/commands/report/report_style.h"
#include "apps/platen/commands/tune/inspect/inspect_charts.h"
#include "apps/platen/commands/tune/inspect/inspect_style.h"
#include "model/support/grouped.h"

namespace platen {
namespace {

class Page {
 public:
  explicit Page(const InspectFacts& facts) : facts_(facts) {
    for (const InspectedSide& side : facts.sides) {
      most_ = std::max(most_, side.drafts);
      least_ = std::min(least_, side.drafts);
    }
  }

  std::string Write() {
    const std::string text = BeginHtmlPage("platen: drafts of " + facts_.folder,
                                           std::string(kReportStyle) + kInspectStyle, xml_);
    xml_.Open("main");
    WriteHead();
    WriteAcceptance();
    WriteTraining();
    WriteMisses();
    WriteRegions();
    xml_.CloseAll();
    return text + xml_.Take();
  }

 private:
  void Heading(const std::string& text) { xml_.Leaf("h2", {}, text); }
  void Soft(const std::string& text) { xml_.Leaf("p", {{"class", "soft"}}, text); }
  void Tile(const std::string& figure, const std::string& what) {
    xml_.Open("li");
    xml_.Leaf("b", {}, figure);
    xml_.Leaf("span", {}, what);
    xml_.Close();
  }
  // Wide ones are moved with the arrow keys.
  void OpenTable(const std::string& what, const char* style) {
    xml_.Open("div",
              {{"class", "wide"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", what}});
    xml_.Open("table", {{"class", style}});
  }
  void CloseTable() {
    xml_.Close();
    xml_.Close();
  }
  void Cells(const std::vector<std::string>& cells, const char* tag, size_t first_number) {
    xml_.Open("tr");
    for (size_t i = 0; i < cells.size(); ++i) {
      xml_.Leaf(tag, {{"class", i >= first_number ? "n" : "long"}}, cells[i]);
    }
    xml_.Close();
  }

  // Of rounds with as many drafts as all sides make: more drafts, more tokens.
  Rounds RoundsOf(const InspectedSide& side) const {
    return least_ > 0 ? side.acceptance.rounds[static_cast<size_t>(least_) - 1] : Rounds();
  }
  static FateCounts FatesOfAll(const InspectedSide& side) {
    FateCounts all;
    for (const PageDrafts& region : side.regions) {
      const FateCounts counts = CountFates(FatesOf(region.hits, side.drafts));
      all.accepted += counts.accepted;
      all.rejected += counts.rejected;
      all.target += counts.target;
    }
    return all;
  }

  void WriteHead() {
    xml_.Leaf("h1", {}, "Drafts of " + facts_.folder);
    for (const std::string& note : facts_.notes) xml_.Leaf("p", {}, note);
    xml_.Open("ul", {{"class", "tiles"}});
    Tile(Grouped(facts_.documents), facts_.documents == 1 ? "document" : "documents");
    Tile(Grouped(facts_.regions), facts_.regions == 1 ? "region" : "regions");
    for (const InspectedSide& side : facts_.sides) {
      Tile(fmt::format("{:.3f}", RoundsOf(side).tokens_per_round()),
           fmt::format("tokens a round {}, with {}", side.name, Counted(least_, "draft")));
    }
    const FateCounts counts = FatesOfAll(facts_.sides.back());
    Tile(Grouped(counts.accepted), "drafts accepted " + facts_.sides.back().name);
    Tile(Grouped(counts.rejected), "drafts rejected " + facts_.sides.back().name);
    Tile(Grouped(counts.target), "tokens by the model alone " + facts_.sides.back().name);
    xml_.Close();
  }

  void WriteAcceptance() {
    Heading("Acceptance by position");
    ShareBars bars;
    bars.what = "How often each draft was right if those before it were";
    for (int d = 0; d < most_; ++d) bars.labels.push_back(fmt::format("draft {}", d + 1));
    for (const InspectedSide& side : facts_.sides) {
      std::vector<double>& values = bars.series.emplace_back();
      for (size_t d = 0; d < static_cast<size_t>(most_); ++d) {
        const bool tried = d < side.acceptance.tried.size() && side.acceptance.tried[d] > 0;
        values.push_back(tried ? side.acceptance.conditional(d) : -1);
      }
    }
    DrawShares(bars, xml_);
    Soft(fmt::format(
        "How often a draft is right if all before it are{}. Every token of the text is "
        "a start here; the rounds below start where the one before ended, as in "
        "decoding.",
        facts_.sides.size() > 1 ? ": the upper bar before training, the lower one after" : ""));
    WriteAcceptanceTable();
  }

  void WriteAcceptanceHead() {
    const bool two = facts_.sides.size() > 1;
    xml_.Open("tr");
    xml_.Leaf("th", {}, "draft");
    for (const char* what :
         {"right if those before are", "all up to it right", "tokens a round with so many"}) {
      xml_.Leaf("th", {{"class", "n"}, {"colspan", two ? "2" : "1"}}, what);
    }
    xml_.Close();
    if (!two) return;
    std::vector<std::string> names = {""};
    for (int i = 0; i < 3; ++i) {
      for (const InspectedSide& side : facts_.sides) names.push_back(side.name);
    }
    Cells(names, "th", 1);
  }

  void WriteAcceptanceTable() {
    OpenTable("Acceptance by position", "numbers");
    WriteAcceptanceHead();
    std::vector<double> all(facts_.sides.size(), 1.0);
    for (size_t d = 0; d < static_cast<size_t>(most_); ++d) {
      std::vector<std::string> conditional, prefix, tokens;
      for (size_t s = 0; s < facts_.sides.size(); ++s) {
        const Acceptance& of = facts_.sides[s].acceptance;
        const bool made = d < of.tried.size();
        all[s] *= made ? of.conditional(d) : 0;
        conditional.push_back(made ? fmt::format("{:.3f}", of.conditional(d)) : "–");
        prefix.push_back(made ? fmt::format("{:.3f}", all[s]) : "–");
        tokens.push_back(made ? fmt::format("{:.3f}", of.rounds[d].tokens_per_round()) : "–");
      }
      std::vector<std::string> cells = {std::to_string(d + 1)};
      for (const auto* part : {&conditional, &prefix, &tokens}) {
        cells.insert(cells.end(), part->begin(), part->end());
      }
      Cells(cells, "td", 1);
    }
    CloseTable();
  }

  void WriteTraining() {
    Heading("Training");
    if (facts_.curves.steps == 0) {
      Soft("There is no log of a training.");
      return;
    }
    xml_.Open("div", {{"class", "pair"}});
    CurveChart losses = {
        "Loss of each draft", facts_.curves.steps, facts_.curves.loss_of_draft, {}, true};
    for (size_t d = 1; d <= losses.curves.size(); ++d) {
      losses.names.push_back(fmt::format("draft {}", d));
    }
    if (!losses.curves.empty()) DrawCurves(losses, xml_);
    if (!facts_.curves.tokens_per_round.empty()) {
      DrawCurves(
          {"Tokens a round", facts_.curves.steps, {facts_.curves.tokens_per_round}, {}, false},
          xml_);
    }
    xml_.Close();
    Soft(
        "Loss: of the documents that are trained on. Tokens a round: of those that choose the best "
        "weights, with as many drafts as are trained for.");
  }

  void WriteMisses() {
    const InspectedSide& side = facts_.sides.back();
    Heading("Most frequent first misses");
    if (facts_.misses.empty()) {
      Soft("None: every draft was right.");
      return;
    }
    Soft(fmt::format("Drafts that ended a round {}: {} in all.", side.name,
                     Grouped(FatesOfAll(side).rejected)));
    OpenTable("Most frequent first misses", "narrow");
    Cells({"expected", "drafted", "times"}, "th", 2);
    for (const Miss& miss : facts_.misses) {
      xml_.Open("tr");
      for (const TokenId id : {miss.expected, miss.drafted}) {
        xml_.Open("td");
        xml_.Leaf("bdi", {{"class", "chip"}}, ChipText(id, facts_.bytes_of));
        xml_.Close();
      }
      xml_.Leaf("td", {{"class", "n"}}, Grouped(miss.count));
      xml_.Close();
    }
    CloseTable();
    Soft(
        "␣ is a space, ↵ the end of a line, #7 the token 7, which has no text; \\x and \\u stand "
        "for what cannot be seen. If one token is often drafted where the token before or behind "
        "it is expected, suspect labels that are off by one.");
  }

  void LegendItem(const char* style, const char* what) {
    xml_.Open("li");
    xml_.Open("span", {{"class", "tokens"}});
    if (std::string_view(style) == "miss") {
      xml_.Open("span", {{"class", "legend-miss miss"}});
      xml_.Leaf("del", {}, "draft");
      xml_.Leaf("ins", {}, "text");
      xml_.Close();
    } else {
      xml_.Leaf("span", {{"class", std::string("legend-") + style + " " + style}}, "text");
    }
    xml_.Close();
    xml_.Leaf("span", {}, what);
    xml_.Close();
  }

  void WriteRegions() {
    Heading("Regions with the most misses");
    if (static_cast<int64_t>(facts_.shown.size()) < facts_.regions) {
      Soft(fmt::format("{} of {} are shown (--regions).", Grouped(facts_.shown.size()),
                       Grouped(facts_.regions)));
    }
    xml_.Open("ul", {{"class", "legend"}});
    LegendItem("hit", "a draft that was accepted");
    LegendItem("miss", "a draft that was rejected, above what stands there");
    LegendItem("own", "by the model alone: no draft was made for it");
    xml_.Close();
    Soft(
        "Tokens stand in their order from left to right. In the tables a draft behind a wrong one "
        "is grey and marked –: decoding never looks at it, and it was told the right text, which "
        "decoding would not know.");
    for (const ShownRegion& region : facts_.shown) {
      WriteRegion(region, facts_.sides, facts_.bytes_of, xml_);
    }
  }

  const InspectFacts& facts_;
  int most_ = 0, least_ = std::numeric_limits<int>::max();  // drafts of the sides
  XmlWriter xml_;
};

}  // namespace

std::string InspectPage(const InspectFacts& facts) { return Page(facts).Write(); }

}  // namespace platen
