#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "stages/page_words.h"

namespace platen {
namespace {

// Shares, see the header.
constexpr double kBeside = 0.5;
constexpr double kWithin = 0.5;
constexpr double kLineCovered = 0.5;

struct Rect {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;

  double width() const { return x1 - x0; }
  double height() const { return y1 - y0; }
  double center_x() const { return (x0 + x1) / 2; }
  double center_y() const { return (y0 + y1) / 2; }
};

Rect RectOf(const LayerWord& word) { return {word.x0, word.y0, word.x1, word.y1}; }
Rect RectOf(const BoxF& box) { return {box.x0, box.y0, box.x1, box.y1}; }

double OverlapX(const Rect& a, const Rect& b) {
  return std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
}
double OverlapY(const Rect& a, const Rect& b) {
  return std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
}

Rect Around(const Rect& a, const Rect& b) {
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

// A line with the words that stand in it, as indices in the order of the layer.
struct WordLine {
  LayoutLine line;
  std::vector<int> words;
  double area = 0;  // of it that words of other lines cover

  bool IsCovered() const {
    const double width = static_cast<double>(line.box.x1 - line.box.x0);
    const double height = static_cast<double>(line.box.y1 - line.box.y0);
    return !words.empty() || (area > 0 && area >= kLineCovered * width * height);
  }
};

struct WordRegion {
  LayoutRegion region;  // without its lines
  std::vector<WordLine> lines;
};

std::array<PointF, 4> QuadOf(const BoxF& box) {
  return {{{box.x0, box.y0}, {box.x1, box.y0}, {box.x1, box.y1}, {box.x0, box.y1}}};
}

BoxF BoxAround(const std::vector<LayerWord>& words, const std::vector<int>& chosen) {
  Rect all = RectOf(words[static_cast<size_t>(chosen.front())]);
  for (const int word : chosen) all = Around(all, RectOf(words[static_cast<size_t>(word)]));
  return {static_cast<float>(all.x0), static_cast<float>(all.y0), static_cast<float>(all.x1),
          static_cast<float>(all.y1)};
}

WordLine LineOfLayer(const std::vector<LayerWord>& words, const std::vector<int>& chosen) {
  WordLine made;
  made.line.box = BoxAround(words, chosen);
  made.line.quad = QuadOf(made.line.box);
  made.words = chosen;
  return made;
}

// By the layer's lines, in their order.
std::vector<WordLine> LinesOfLayer(const std::vector<LayerWord>& words,
                                   const std::vector<int>& chosen) {
  std::map<int, std::vector<int>> by_line;
  for (const int word : chosen) by_line[words[static_cast<size_t>(word)].line].push_back(word);
  std::vector<WordLine> lines;
  for (const auto& [line, of_line] : by_line) lines.push_back(LineOfLayer(words, of_line));
  return lines;
}

class Placer {
 public:
  Placer(const std::vector<LayerWord>& words, const PageLayout& layout) : words_(words) {
    for (const LayoutRegion& region : layout.regions) {
      regions_.push_back({region, {}});
      for (const LayoutLine& line : region.lines) regions_.back().lines.push_back({line, {}});
      regions_.back().region.lines.clear();
    }
  }

  PlacedText Place(const PageLayout& layout) {
    const std::set<int> sideways = SidewaysLines();
    std::map<size_t, std::vector<int>> of_region;  // words in none of its lines
    std::map<int, std::vector<int>> of_block;      // words in no region
    for (int i = 0; i < static_cast<int>(words_.size()); ++i) {
      const LayerWord& word = words_[static_cast<size_t>(i)];
      const bool is_sideways = sideways.contains(word.line);
      if (WordLine* line = is_sideways ? nullptr : LineWith(RectOf(word))) {
        line->words.push_back(i);
        ++with_ink_;
        continue;
      }
      with_ink_ += Cover(RectOf(word));
      if (const auto region = is_sideways ? std::nullopt : RegionWith(RectOf(word))) {
        of_region[*region].push_back(i);
      } else {
        of_block[word.block].push_back(i);
      }
    }
    PlacedText text;
    Measure(text);
    for (const auto& [region, chosen] : of_region) AddLines(chosen, regions_[region]);
    for (const auto& [block, chosen] : of_block) AddRegion(chosen);
    Finish(layout, text);
    return text;
  }

 private:
  // Lines of the layer that run up or down the page.
  std::set<int> SidewaysLines() const {
    constexpr size_t kFewestBytes = 3;
    constexpr double kHigherThanWide = 2;
    std::map<int, std::pair<Rect, size_t>> lines;  // places, and bytes of text
    for (const LayerWord& word : words_) {
      const auto [line, is_new] = lines.try_emplace(word.line, RectOf(word), 0);
      auto& [place, bytes] = line->second;
      place = Around(place, RectOf(word));
      bytes += word.text.size();
    }
    std::set<int> sideways;
    for (const auto& [line, known] : lines) {
      const auto& [place, bytes] = known;
      const bool runs_down = place.height() >= kHigherThanWide * place.width();
      if (runs_down && bytes >= kFewestBytes) sideways.insert(line);
    }
    return sideways;
  }

  // Notes where a word stands that is in none of the lines found in ink; whether there is any.
  bool Cover(const Rect& word) {
    bool has_ink = false;
    for (WordRegion& region : regions_) {
      for (WordLine& line : region.lines) {
        const double x = OverlapX(word, RectOf(line.line.box));
        const double y = OverlapY(word, RectOf(line.line.box));
        if (x <= 0 || y <= 0) continue;
        line.area += x * y;
        has_ink = true;
      }
    }
    return has_ink;
  }

  WordLine* LineWith(const Rect& word) {
    WordLine* best = nullptr;
    double most = 0;
    for (WordRegion& region : regions_) {
      if (!region.region.read) continue;
      for (WordLine& line : region.lines) {
        const Rect box = RectOf(line.line.box);
        const double beside = OverlapX(word, box), within = OverlapY(word, box);
        const bool fits = beside >= kBeside * word.width() &&
                          within >= kWithin * std::min(word.height(), box.height());
        if (!fits || beside <= 0 || within <= 0 || beside * within <= most) continue;
        most = beside * within;
        best = &line;
      }
    }
    return best;
  }

  std::optional<size_t> RegionWith(const Rect& word) const {
    std::optional<size_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < regions_.size(); ++i) {
      const LayoutRegion& region = regions_[i].region;
      const Rect box = RectOf(region.box);
      const bool contains = word.center_x() >= box.x0 && word.center_x() < box.x1 &&
                            word.center_y() >= box.y0 && word.center_y() < box.y1;
      if (!region.read || region.table || !contains || box.width() * box.height() >= least) {
        continue;
      }
      least = box.width() * box.height();
      best = i;
    }
    return best;
  }

  // Before the lines that the layer adds: those found in ink.
  void Measure(PlacedText& text) const {
    double length = 0, with_words = 0;
    for (const WordRegion& region : regions_) {
      if (!region.region.read) continue;
      for (const WordLine& line : region.lines) {
        double covered = 0;
        for (const int word : line.words) {
          covered += OverlapX(RectOf(words_[static_cast<size_t>(word)]), RectOf(line.line.box));
        }
        const double width = RectOf(line.line.box).width();
        length += width;
        const bool has_words =
            line.words.empty() ? line.IsCovered() : covered >= kLineCovered * width;
        if (has_words) with_words += width;
      }
    }
    text.ink_with_words = length > 0 ? with_words / length : 1;
    text.words_with_ink =
        words_.empty() ? 0 : static_cast<double>(with_ink_) / static_cast<double>(words_.size());
  }

  void AddLines(const std::vector<int>& chosen, WordRegion& region) const {
    for (WordLine& line : LinesOfLayer(words_, chosen)) {
      const double center = RectOf(line.line.box).center_y();
      const auto below = std::find_if(region.lines.begin(), region.lines.end(), [&](auto& other) {
        return RectOf(other.line.box).center_y() > center;
      });
      region.lines.insert(below, std::move(line));
    }
  }

  void AddRegion(const std::vector<int>& chosen) {
    WordRegion made;
    made.region.box = BoxAround(words_, chosen);
    made.region.quad = QuadOf(made.region.box);
    made.lines = LinesOfLayer(words_, chosen);
    const Rect box = RectOf(made.region.box);
    size_t place = regions_.size();
    double lowest = -std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < regions_.size(); ++i) {
      const Rect other = RectOf(regions_[i].region.box);
      if (OverlapX(box, other) <= 0) continue;
      const bool above = other.center_y() <= box.center_y();
      if (!above && lowest < 0 && place == regions_.size()) place = i;
      if (!above || other.y1 < lowest) continue;
      lowest = std::max(other.y1, 0.0);
      place = i + 1;
    }
    regions_.insert(regions_.begin() + static_cast<ptrdiff_t>(place), std::move(made));
  }

  // The words of a line, in reading order.
  std::vector<int> InOrder(std::vector<int> chosen) const {
    const auto at = [&](int word) -> const LayerWord& { return words_[static_cast<size_t>(word)]; };
    std::map<int, double> left;  // of each of the layer's lines
    for (const int word : chosen) {
      const auto [line, is_new] = left.try_emplace(at(word).line, at(word).x0);
      line->second = std::min(line->second, at(word).x0);
    }
    const auto key = [&](int word) { return std::pair{left.at(at(word).line), at(word).line}; };
    std::stable_sort(chosen.begin(), chosen.end(), [&](int a, int b) { return key(a) < key(b); });
    return chosen;
  }

  CropReading ReadingOf(const WordLine& line) const {
    CropReading reading;
    reading.origin.quad = line.line.quad;
    for (const int index : InOrder(line.words)) {
      const LayerWord& word = words_[static_cast<size_t>(index)];
      if (!reading.text.empty()) reading.text += ' ';
      WordResult placed;
      placed.begin = static_cast<int>(reading.text.size());
      reading.text += word.text;
      placed.end = static_cast<int>(reading.text.size());
      placed.quad = {
          {{word.x0, word.y0}, {word.x1, word.y0}, {word.x1, word.y1}, {word.x0, word.y1}}};
      placed.confidence = 1;
      reading.words.push_back(placed);
    }
    return reading;
  }

  void Finish(const PageLayout& layout, PlacedText& text) {
    text.layout = layout;
    text.layout.regions.clear();
    for (WordRegion& region : regions_) {
      text.covered.emplace_back();
      for (WordLine& line : region.lines) {
        text.covered.back().push_back(line.IsCovered());
        if (!line.words.empty()) {
          text.readings.push_back(ReadingOf(line));
          text.readings.back().origin.region = static_cast<int>(text.layout.regions.size());
          text.readings.back().origin.line = static_cast<int>(region.region.lines.size());
        }
        region.region.lines.push_back(std::move(line.line));
      }
      text.layout.regions.push_back(std::move(region.region));
    }
  }

  const std::vector<LayerWord>& words_;
  std::vector<WordRegion> regions_;
  size_t with_ink_ = 0;  // words
};

}  // namespace

PlacedText PlaceWords(const std::vector<LayerWord>& words, const PageLayout& layout) {
  return Placer(words, layout).Place(layout);
}

}  // namespace platen
