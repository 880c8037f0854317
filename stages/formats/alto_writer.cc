#include "stages/formats/alto_writer.h"

#include <algorithm>
#include <set>

#include "stages/formats/alto_lines.h"
#include "stages/formats/decimal.h"

namespace platen {
namespace {

constexpr char kNamespace[] = "http://www.loc.gov/standards/alto/ns-v4#";
constexpr char kSchema[] = "http://www.loc.gov/standards/alto/v4/alto-4-4.xsd";

std::string IdOfKind(RegionKind kind) { return "kind_" + std::string(RegionKindName(kind)); }

std::string IdOfRegion(size_t index) { return "r" + std::to_string(index + 1); }

void AddDescription(const DocumentInfo& info, XmlWriter& xml) {
  std::string settings;
  for (const DocumentSetting& setting : info.settings) {
    if (setting.name == "platen") continue;
    settings += (settings.empty() ? "" : "; ") + setting.name + "=" + setting.value;
  }
  xml.Open("Description");
  xml.Leaf("MeasurementUnit", {}, "pixel");
  xml.Open("sourceImageInformation");
  xml.Leaf("fileName", {}, info.source.substr(info.source.rfind('/') + 1));
  xml.Leaf("fileIdentifier", {}, info.source);
  xml.Close();
  xml.Open("Processing", {{"ID", "platen"}});
  xml.Leaf("processingCategory", {}, "contentGeneration");
  xml.Leaf("processingStepDescription", {}, "text recognition; the boxes of words are estimated");
  xml.Leaf("processingStepSettings", {}, settings);
  xml.Open("processingSoftware");
  xml.Leaf("softwareName", {}, "platen");
  xml.Leaf("softwareVersion", {}, info.Setting("platen"));
  xml.Close();
  xml.Close();
  xml.Close();
}

// The kinds of the page's regions.
void AddTags(const PlacedPage& page, XmlWriter& xml) {
  std::set<RegionKind> kinds;
  for (const PlacedRegion& region : page.regions) kinds.insert(region.kind);
  if (kinds.empty()) return;
  xml.Open("Tags");
  for (const RegionKind kind : kinds) {
    xml.Empty(
        "LayoutTag",
        {{"ID", IdOfKind(kind)}, {"TYPE", "region"}, {"LABEL", std::string(RegionKindName(kind))}});
  }
  xml.Close();
}

void AddReadingOrder(const PlacedPage& page, XmlWriter& xml) {
  if (page.regions.empty()) return;
  xml.Open("ReadingOrder");
  xml.Open("OrderedGroup", {{"ID", "order"}});
  for (size_t i = 0; i < page.regions.size(); ++i) {
    xml.Empty("ElementRef", {{"ID", "order_" + std::to_string(i + 1)}, {"REF", IdOfRegion(i)}});
  }
  xml.Close();
  xml.Close();
}

// Blocks of one page.
class Blocks {
 public:
  Blocks(const PageResult& page, int rotation, XmlWriter& xml)
      : words_(page), rotation_(rotation), xml_(xml) {}

  void Add(const PlacedRegion& region, const std::string& id) {
    const XmlWriter::Attributes attributes = {{"ID", id}, {"TAGREFS", IdOfKind(region.kind)}};
    if (!region.error.empty()) xml_.Comment(region.error);
    const bool is_picture = region.kind == RegionKind::kFigure ||
                            region.kind == RegionKind::kChart || region.kind == RegionKind::kSeal;
    if (!region.cells.empty()) {
      AddTable(region, attributes, id);
    } else if (is_picture && region.lines.empty()) {
      xml_.Empty("Illustration", WithBox({{"ID", id},
                                          {"TAGREFS", IdOfKind(region.kind)},
                                          {"TYPE", std::string(RegionKindName(region.kind))}},
                                         region.place.box));
    } else {
      AddText(region.lines, attributes, region.place.box, id);
    }
  }

 private:
  // Rows of cells; ALTO has no other way to say where a cell belongs.
  void AddTable(const PlacedRegion& region, XmlWriter::Attributes attributes,
                const std::string& id) {
    attributes = WithBox(std::move(attributes), region.place.box);
    attributes.emplace_back("TYPE", region.kind == RegionKind::kTable ? "table" : "rows");
    xml_.Open("ComposedBlock", attributes);
    for (size_t i = 0; i < region.cells.size();) {
      size_t end = i;
      PixelBox box = region.cells[i].place.box;
      for (; end < region.cells.size() && region.cells[end].row == region.cells[i].row; ++end) {
        const PixelBox& cell = region.cells[end].place.box;
        box = {std::min(box.x0, cell.x0), std::min(box.y0, cell.y0), std::max(box.x1, cell.x1),
               std::max(box.y1, cell.y1)};
      }
      const std::string row_id = id + "_row" + std::to_string(region.cells[i].row + 1);
      xml_.Open("ComposedBlock", WithBox({{"ID", row_id}, {"TYPE", "row"}}, box));
      for (int number = 1; i < end; ++i, ++number) {
        const std::string cell_id = row_id + "_cell" + std::to_string(number);
        AddText(region.cells[i].lines, {{"ID", cell_id}}, region.cells[i].place.box, cell_id);
      }
      xml_.Close();
    }
    if (!region.lines.empty()) {
      AddText(region.lines, {{"ID", id + "_rest"}}, region.place.box, id + "_rest");
    }
    xml_.Close();
  }

  void AddText(const std::vector<PlacedLine>& lines, XmlWriter::Attributes attributes,
               const PixelBox& box, const std::string& id) {
    attributes = WithBox(std::move(attributes), box);
    if (!lines.empty() && lines.front().text_angle != rotation_) {
      attributes.emplace_back("ROTATION", std::to_string(lines.front().text_angle));
    }
    if (lines.empty()) return xml_.Empty("TextBlock", attributes);
    xml_.Open("TextBlock", attributes);
    AddAltoLines(lines, id, words_, xml_);
    xml_.Close();
  }

  const PageWords words_;
  const int rotation_;
  XmlWriter& xml_;
};

XmlWriter::Attributes PageAttributes(const PlacedPage& page) {
  XmlWriter::Attributes attributes = {{"ID", "page"},
                                      {"PHYSICAL_IMG_NR", std::to_string(page.page)},
                                      {"WIDTH", std::to_string(page.width)},
                                      {"HEIGHT", std::to_string(page.height)},
                                      {"PROCESSINGREFS", "platen"}};
  if (page.rotation != 0) attributes.emplace_back("ROTATION", std::to_string(page.rotation));
  if (page.confidence) attributes.emplace_back("PC", Decimal(*page.confidence, 4));
  if (!page.error.empty()) {
    attributes.emplace_back("QUALITY", "Damaged");
    attributes.emplace_back("QUALITY_DETAIL", page.error);
  } else if (!page.doubts.empty()) {
    attributes.emplace_back("QUALITY_DETAIL", "doubtful: " + page.doubts);
  }
  return attributes;
}

}  // namespace

std::string AltoWriter::Begin(const DocumentInfo& info) {
  xml_ = XmlWriter();
  xml_.Declare();
  xml_.Open("alto", {{"xmlns", kNamespace},
                     {"xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"},
                     {"xsi:schemaLocation", std::string(kNamespace) + " " + kSchema},
                     {"SCHEMAVERSION", "4.4"}});
  AddDescription(info, xml_);
  return xml_.Take();
}

std::string AltoWriter::Page(const PageResult& result) {
  const PlacedPage page = PlaceOnImage(result);
  AddTags(page, xml_);
  AddReadingOrder(page, xml_);
  xml_.Open("Layout");
  xml_.Open("Page", PageAttributes(page));
  xml_.Open("PrintSpace", WithBox({}, {0, 0, page.width, page.height}));
  Blocks blocks(result, page.rotation, xml_);
  for (size_t i = 0; i < page.regions.size(); ++i) blocks.Add(page.regions[i], IdOfRegion(i));
  xml_.Close();
  xml_.Close();
  xml_.Close();
  return xml_.Take();
}

std::string AltoWriter::End() {
  xml_.CloseAll();
  return xml_.Take();
}

}  // namespace platen
