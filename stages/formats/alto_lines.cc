#include "stages/formats/alto_lines.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "stages/formats/decimal.h"

namespace platen {
namespace {

// A word that a line ends with and the next goes on with.
struct PartedWord {
  std::string whole;
  std::string hyphen;
};

std::optional<PartedWord> PartedBetween(const PlacedLine& line, const PlacedLine& next,
                                        const PageWords& words) {
  if (line.words.empty() || next.words.empty()) return std::nullopt;
  const std::string& first = line.words.back().text;
  const size_t hyphen = EndingHyphen(first);
  if (hyphen == 0 || hyphen == first.size()) return std::nullopt;
  const std::string whole = JoinLines(first, next.words.front().text, words);
  const bool parted = whole.size() < first.size() + next.words.front().text.size() + 1;
  if (!parted) return std::nullopt;  // a space stands between them
  return PartedWord{whole, first.substr(first.size() - hyphen)};
}

void AddShape(const Place& place, XmlWriter& xml) {
  if (!place.slanted) return;
  xml.Open("Shape");
  xml.Empty("Polygon", {{"POINTS", PointsText(place.quad)}});
  xml.Close();
}

void AddString(const std::string& text, const PlacedWord& word, XmlWriter::Attributes attributes,
               XmlWriter& xml) {
  attributes = WithBox(std::move(attributes), word.place.box);
  attributes.emplace_back("CONTENT", text);
  attributes.emplace_back("WC", Decimal(word.confidence, 4));
  if (!word.place.slanted) return xml.Empty("String", attributes);
  xml.Open("String", attributes);
  AddShape(word.place, xml);
  xml.Close();
}

// The white between two words of a line that is read from left to right; of others without a place.
void AddSpace(const PlacedLine& line, const PixelBox& before, const PixelBox& after,
              XmlWriter& xml) {
  XmlWriter::Attributes attributes;
  if (line.text_angle == 0) {
    attributes = {{"WIDTH", std::to_string(std::max(after.x0 - before.x1, 0))},
                  {"HPOS", std::to_string(before.x1)},
                  {"VPOS", std::to_string(before.y0)}};
  }
  xml.Empty("SP", attributes);
}

std::string BaselinePoints(const std::array<ResultPoint, 2>& baseline) {
  std::string text;
  for (const ResultPoint& p : baseline) {
    text +=
        (text.empty() ? "" : " ") + Decimal(std::round(p.x), 0) + "," + Decimal(std::round(p.y), 0);
  }
  return text;
}

// `before` and `behind`: the words that this line shares with the one above and the one below.
void AddLine(const PlacedLine& line, const std::string& id, const std::optional<PartedWord>& before,
             const std::optional<PartedWord>& behind, XmlWriter& xml) {
  XmlWriter::Attributes attributes = WithBox({{"ID", id}}, line.place.box);
  if (line.baseline) attributes.emplace_back("BASELINE", BaselinePoints(*line.baseline));
  xml.Open("TextLine", attributes);
  AddShape(line.place, xml);
  // The schema wants a String in every line.
  if (line.words.empty()) AddString("", {"", line.place, 0}, {{"ID", id + "_w1"}}, xml);
  for (size_t i = 0; i < line.words.size(); ++i) {
    const PlacedWord& word = line.words[i];
    XmlWriter::Attributes own = {{"ID", id + "_w" + std::to_string(i + 1)}};
    std::string text = word.text;
    if (behind && i + 1 == line.words.size()) {
      text.resize(text.size() - behind->hyphen.size());
      own.emplace_back("SUBS_TYPE", "HypPart1");
      own.emplace_back("SUBS_CONTENT", behind->whole);
    } else if (before && i == 0) {
      own.emplace_back("SUBS_TYPE", "HypPart2");
      own.emplace_back("SUBS_CONTENT", before->whole);
    }
    if (i > 0) AddSpace(line, line.words[i - 1].place.box, word.place.box, xml);
    AddString(text, word, std::move(own), xml);
  }
  if (behind) xml.Empty("HYP", {{"CONTENT", behind->hyphen}});
  xml.Close();
}

}  // namespace

XmlWriter::Attributes WithBox(XmlWriter::Attributes attributes, const PixelBox& box) {
  attributes.emplace_back("HPOS", std::to_string(box.x0));
  attributes.emplace_back("VPOS", std::to_string(box.y0));
  attributes.emplace_back("WIDTH", std::to_string(box.width()));
  attributes.emplace_back("HEIGHT", std::to_string(box.height()));
  return attributes;
}

void AddAltoLines(const std::vector<PlacedLine>& lines, const std::string& id,
                  const PageWords& words, XmlWriter& xml) {
  std::optional<PartedWord> before;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::optional<PartedWord> behind;
    if (i + 1 < lines.size()) behind = PartedBetween(lines[i], lines[i + 1], words);
    AddLine(lines[i], id + "_l" + std::to_string(i + 1), before, behind, xml);
    before = std::move(behind);
  }
}

}  // namespace platen
