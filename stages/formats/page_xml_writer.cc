#include "stages/formats/page_xml_writer.h"

#include "stages/formats/decimal.h"
#include "stages/formats/page_xml_regions.h"
#include "stages/formats/placed_page.h"

namespace platen {
namespace {

constexpr char kNamespace[] = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15";
// The format demands dates, but the same input gives the same bytes.
constexpr char kNoDate[] = "1970-01-01T00:00:00";
constexpr char kComments[] = "the dates are fixed; the coordinates of words are estimated";

std::string IdOfRegion(size_t index) { return "r" + std::to_string(index + 1); }

XmlWriter::Attributes PageAttributes(const PlacedPage& page, const std::string& file_name) {
  XmlWriter::Attributes attributes = {{"imageFilename", file_name},
                                      {"imageWidth", std::to_string(page.width)},
                                      {"imageHeight", std::to_string(page.height)}};
  if (page.dpi_x > 0 && page.dpi_y > 0) {
    attributes.emplace_back("imageXResolution", Decimal(page.dpi_x, 1));
    attributes.emplace_back("imageYResolution", Decimal(page.dpi_y, 1));
    attributes.emplace_back("imageResolutionUnit", "PPI");
  }
  attributes.emplace_back("custom", "page {number:" + std::to_string(page.page) + ";}");
  if (page.rotation != 0) {  // from -180, exclusive, to 180
    const int turn = page.rotation > 180 ? page.rotation - 360 : page.rotation;
    attributes.emplace_back("orientation", std::to_string(turn));
  }
  if (page.confidence) attributes.emplace_back("conf", Decimal(*page.confidence, 4));
  return attributes;
}

void AddReadingOrder(const PlacedPage& page, XmlWriter& xml) {
  if (page.regions.empty()) return;
  xml.Open("ReadingOrder");
  xml.Open("OrderedGroup", {{"id", "order"}});
  for (size_t i = 0; i < page.regions.size(); ++i) {
    xml.Empty("RegionRefIndexed", {{"index", std::to_string(i)}, {"regionRef", IdOfRegion(i)}});
  }
  xml.Close();
  xml.Close();
}

void AddNotes(const PlacedPage& page, XmlWriter& xml) {
  if (page.error.empty() && page.doubts.empty()) return;
  xml.Open("UserDefined");
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    xml.Empty("UserAttribute", {{"name", name}, {"value", value}});
  };
  add("error", page.error);
  add("doubts", page.doubts);
  xml.Close();
}

}  // namespace

std::string PageXmlWriter::Begin(const DocumentInfo& info) {
  xml_ = XmlWriter();
  file_name_ = info.source.substr(info.source.rfind('/') + 1);
  xml_.Declare();
  xml_.Open("PcGts", {{"xmlns", kNamespace},
                      {"xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"},
                      {"xsi:schemaLocation",
                       std::string(kNamespace) + " " + kNamespace + "/pagecontent.xsd"}});
  xml_.Open("Metadata");
  xml_.Leaf("Creator", {}, "platen " + info.Setting("platen"));
  xml_.Leaf("Created", {}, kNoDate);
  xml_.Leaf("LastChange", {}, kNoDate);
  xml_.Leaf("Comments", {}, kComments);
  xml_.Empty("MetadataItem", {{"type", "other"}, {"name", "source"}, {"value", info.source}});
  for (const DocumentSetting& setting : info.settings) {
    if (setting.name == "platen") continue;
    xml_.Empty("MetadataItem",
               {{"type", "processingStep"}, {"name", setting.name}, {"value", setting.value}});
  }
  xml_.Close();
  return xml_.Take();
}

std::string PageXmlWriter::Page(const PageResult& result) {
  const PlacedPage page = PlaceOnImage(result);
  xml_.Open("Page", PageAttributes(page, file_name_));
  AddReadingOrder(page, xml_);
  AddNotes(page, xml_);
  for (size_t i = 0; i < page.regions.size(); ++i) {
    AddPageXmlRegion(page.regions[i], IdOfRegion(i), xml_);
  }
  xml_.Close();
  return xml_.Take();
}

std::string PageXmlWriter::End() {
  xml_.CloseAll();
  return xml_.Take();
}

}  // namespace platen
