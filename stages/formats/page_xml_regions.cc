#include "stages/formats/page_xml_regions.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stages/formats/decimal.h"

namespace platen {
namespace {

// Of a TextRegion; the kind itself stands in `custom`.
const char* TextTypeOf(RegionKind kind) {
  switch (kind) {
    case RegionKind::kTitle:
    case RegionKind::kHeading:
      return "heading";
    case RegionKind::kCaption:
      return "caption";
    case RegionKind::kHeader:
      return "header";
    case RegionKind::kFooter:
      return "footer";
    case RegionKind::kPageNumber:
      return "page-number";
    case RegionKind::kFootnote:
      return "footnote";
    case RegionKind::kAside:
      return "marginalia";
    case RegionKind::kCode:
    case RegionKind::kFormulaNumber:
      return "other";
    default:
      return "paragraph";
  }
}

// The element of a region; a TextRegion holds its lines itself.
const char* ElementOf(const PlacedRegion& region) {
  if (!region.cells.empty()) return "TableRegion";
  switch (region.kind) {
    case RegionKind::kTable:
      return "TableRegion";
    case RegionKind::kFigure:
      return "ImageRegion";
    case RegionKind::kChart:
      return "ChartRegion";
    case RegionKind::kSeal:
      return "GraphicRegion";
    case RegionKind::kFormula:
      return "MathsRegion";
    default:
      return "TextRegion";
  }
}

void AddCoords(const Place& place, XmlWriter& xml) {
  const PixelBox& box = place.box;
  const std::array<Pixel, 4> corners = {
      {{box.x0, box.y0}, {box.x1, box.y0}, {box.x1, box.y1}, {box.x0, box.y1}}};
  xml.Empty("Coords", {{"points", PointsText(place.slanted ? place.quad : corners)}});
}

void AddText(const std::string& text, double confidence, XmlWriter& xml) {
  xml.Open("TextEquiv", {{"conf", Decimal(confidence, 4)}});
  xml.Leaf("Unicode", {}, text);
  xml.Close();
}

void AddLine(const PlacedLine& line, const std::string& id, XmlWriter& xml) {
  XmlWriter::Attributes attributes = {{"id", id}};
  if (!line.error.empty()) attributes.emplace_back("comments", line.error);
  xml.Open("TextLine", attributes);
  AddCoords(line.place, xml);
  if (line.baseline) {
    std::vector<Pixel> points;
    for (const ResultPoint& p : *line.baseline) {
      points.push_back({static_cast<int>(std::lround(p.x)), static_cast<int>(std::lround(p.y))});
    }
    xml.Empty("Baseline", {{"points", PointsText(points)}});
  }
  for (size_t i = 0; i < line.words.size(); ++i) {
    const PlacedWord& word = line.words[i];
    xml.Open("Word", {{"id", id + "_w" + std::to_string(i + 1)}});
    AddCoords(word.place, xml);
    AddText(word.text, word.confidence, xml);
    xml.Close();
  }
  AddText(line.text, line.confidence, xml);
  xml.Close();
}

// What a TextRegion holds behind its Coords and Roles.
void AddLines(const std::vector<PlacedLine>& lines, const std::string& id, XmlWriter& xml) {
  if (lines.empty()) return;
  std::string text;
  double confidence = 1;  // of the region: its least certain line
  for (size_t i = 0; i < lines.size(); ++i) {
    AddLine(lines[i], id + "_l" + std::to_string(i + 1), xml);
    text += (i == 0 ? "" : "\n") + lines[i].text;
    confidence = std::min(confidence, lines[i].confidence);
  }
  AddText(text, confidence, xml);
}

void AddCell(const PlacedCell& cell, const std::string& id, XmlWriter& xml) {
  xml.Open("TextRegion", {{"id", id}, {"type", "other"}});
  AddCoords(cell.place, xml);
  xml.Open("Roles");
  xml.Empty("TableCellRole", {{"rowIndex", std::to_string(cell.row)},
                              {"columnIndex", std::to_string(cell.column)},
                              {"rowSpan", std::to_string(cell.row_span)},
                              {"colSpan", std::to_string(cell.column_span)}});
  xml.Close();
  AddLines(cell.lines, id, xml);
  xml.Close();
}

}  // namespace

void AddPageXmlRegion(const PlacedRegion& region, const std::string& id, XmlWriter& xml) {
  const std::string element = ElementOf(region);
  const bool is_text = element == "TextRegion";
  XmlWriter::Attributes attributes = {
      {"id", id}, {"custom", "kind {type:" + std::string(RegionKindName(region.kind)) + ";}"}};
  if (!region.error.empty()) attributes.emplace_back("comments", region.error);
  if (is_text) attributes.emplace_back("type", TextTypeOf(region.kind));
  if (element == "GraphicRegion") attributes.emplace_back("type", "stamp");
  if (!region.cells.empty()) {
    attributes.emplace_back("rows", std::to_string(region.rows));
    attributes.emplace_back("columns", std::to_string(region.columns));
  }
  xml.Open(element, attributes);
  AddCoords(region.place, xml);
  for (size_t i = 0; i < region.cells.size(); ++i) {
    AddCell(region.cells[i], id + "_c" + std::to_string(i + 1), xml);
  }
  if (is_text) {
    AddLines(region.lines, id, xml);
  } else if (!region.lines.empty()) {
    xml.Open("TextRegion", {{"id", id + "_text"}, {"type", "other"}});
    AddCoords(region.place, xml);
    AddLines(region.lines, id + "_text", xml);
    xml.Close();
  }
  xml.Close();
}

}  // namespace platen
