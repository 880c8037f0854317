#include "stages/formats/hocr_writer.h"

#include <cmath>

#include "stages/formats/decimal.h"

namespace platen {
namespace {

constexpr char kDoctype[] =
    "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" "
    "\"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">";
constexpr char kCapabilities[] =
    "ocr_page ocr_carea ocr_par ocr_line ocrx_word ocr_title ocr_caption ocr_table ocr_display "
    "ocr_photo ocr_linedrawing ocr_header ocr_footer ocr_pageno ocr_textfloat ocr_textimage "
    "ocrp_wconf ocrp_poly";

// The element of hOCR that a region of the kind is.
const char* ClassOf(RegionKind kind) {
  switch (kind) {
    case RegionKind::kTitle:
      return "ocr_title";
    case RegionKind::kCaption:
      return "ocr_caption";
    case RegionKind::kTable:
      return "ocr_table";
    case RegionKind::kFormula:
      return "ocr_display";
    case RegionKind::kFigure:
      return "ocr_photo";
    case RegionKind::kChart:
      return "ocr_linedrawing";
    case RegionKind::kHeader:
      return "ocr_header";
    case RegionKind::kFooter:
      return "ocr_footer";
    case RegionKind::kPageNumber:
      return "ocr_pageno";
    case RegionKind::kAside:
      return "ocr_textfloat";
    case RegionKind::kSeal:
      return "ocr_textimage";
    default:
      return "ocr_carea";
  }
}

std::string BoxText(const Place& place) {
  const PixelBox& box = place.box;
  std::string text = "bbox " + std::to_string(box.x0) + " " + std::to_string(box.y0) + " " +
                     std::to_string(box.x1) + " " + std::to_string(box.y1);
  if (!place.slanted) return text;
  text += "; poly";
  for (const Pixel& p : place.quad) text += " " + std::to_string(p.x) + " " + std::to_string(p.y);
  return text;
}

// "baseline SLOPE OFFSET" of a line that is read from left to right, from the bottom left of its
// box; without a measured one the lower edge. A line that runs otherwise has its angle.
std::string BaselineText(const PlacedLine& line) {
  if (line.text_angle != 0) return "; textangle " + std::to_string(line.text_angle);
  const auto edge = [](const Pixel& p) {
    return ResultPoint{static_cast<double>(p.x), static_cast<double>(p.y)};
  };
  ResultPoint left = edge(line.place.quad[3]), right = edge(line.place.quad[2]);
  if (line.baseline) {
    left = line.baseline->at(0);
    right = line.baseline->at(1);
  }
  if (!(right.x > left.x)) return "";
  const double slope = (right.y - left.y) / (right.x - left.x);
  const double offset = left.y + slope * (line.place.box.x0 - left.x) - line.place.box.y1;
  return "; baseline " + Decimal(slope, 4) + " " + Decimal(std::round(offset), 0);
}

// In quotation marks. hOCR has no way to write them within, and readers end a property at the first
// semicolon: these characters, which few names have, are written as in a URL.
std::string Quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') {
      out += "%22";
    } else if (c == '\'') {
      out += "%27";
    } else if (c == ';') {
      out += "%3B";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string PageTitle(const PlacedPage& page, const std::string& source) {
  std::string title = "image " + Quoted(source) + "; bbox 0 0 " + std::to_string(page.width) + " " +
                      std::to_string(page.height);
  if (page.page > 0) title += "; ppageno " + std::to_string(page.page - 1);
  if (page.dpi_x >= 1 && page.dpi_y >= 1) {
    title += "; scan_res " + Decimal(std::round(page.dpi_x), 0) + " " +
             Decimal(std::round(page.dpi_y), 0);
  }
  return title;
}

void AddError(const std::string& error, XmlWriter::Attributes& attributes) {
  if (!error.empty()) attributes.emplace_back("data-error", error);
}

}  // namespace

std::string HocrWriter::Begin(const DocumentInfo& info) {
  xml_ = XmlWriter();
  source_ = info.source;
  pages_ = 0;
  xml_.Declare(kDoctype);
  xml_.Open("html", {{"xmlns", "http://www.w3.org/1999/xhtml"}});
  xml_.Open("head");
  xml_.Leaf("title", {}, info.source);
  xml_.Empty("meta", {{"http-equiv", "Content-Type"}, {"content", "text/html; charset=utf-8"}});
  xml_.Empty("meta", {{"name", "ocr-system"}, {"content", "platen " + info.Setting("platen")}});
  xml_.Empty("meta", {{"name", "ocr-capabilities"}, {"content", kCapabilities}});
  for (const DocumentSetting& setting : info.settings) {
    if (setting.name == "platen") continue;
    xml_.Empty("meta", {{"name", "platen-" + setting.name}, {"content", setting.value}});
  }
  xml_.Comment("the boxes of words are estimated");
  xml_.Close();
  xml_.Open("body");
  return xml_.Take();
}

std::string HocrWriter::Page(const PageResult& result) {
  const PlacedPage page = PlaceOnImage(result);
  const std::string number = std::to_string(++pages_);
  XmlWriter::Attributes attributes = {
      {"class", "ocr_page"}, {"id", "page_" + number}, {"title", PageTitle(page, source_)}};
  AddError(page.error, attributes);
  if (!page.doubts.empty()) attributes.emplace_back("data-doubt", page.doubts);
  xml_.Open("div", attributes);
  for (size_t i = 0; i < page.regions.size(); ++i) {
    AddRegion(page.regions[i], number + "_" + std::to_string(i + 1));
  }
  xml_.Close();
  return xml_.Take();
}

void HocrWriter::AddRegion(const PlacedRegion& region, const std::string& number) {
  XmlWriter::Attributes attributes = {{"class", ClassOf(region.kind)},
                                      {"id", "block_" + number},
                                      {"title", BoxText(region.place)},
                                      {"data-kind", std::string(RegionKindName(region.kind))}};
  AddError(region.error, attributes);
  xml_.Open("div", attributes);
  int paragraph = 0;
  for (const PlacedCell& cell : region.cells) {
    if (cell.lines.empty()) continue;
    AddParagraph(cell.lines, cell.place, number + "_" + std::to_string(++paragraph));
  }
  if (!region.lines.empty()) {
    AddParagraph(region.lines, region.place, number + "_" + std::to_string(++paragraph));
  }
  xml_.Close();
}

void HocrWriter::AddParagraph(const std::vector<PlacedLine>& lines, const Place& place,
                              const std::string& number) {
  xml_.Open("p", {{"class", "ocr_par"}, {"id", "par_" + number}, {"title", BoxText(place)}});
  for (size_t i = 0; i < lines.size(); ++i) {
    AddLine(lines[i], number + "_" + std::to_string(i + 1));
  }
  xml_.Close();
}

void HocrWriter::AddLine(const PlacedLine& line, const std::string& number) {
  XmlWriter::Attributes attributes = {{"class", "ocr_line"},
                                      {"id", "line_" + number},
                                      {"title", BoxText(line.place) + BaselineText(line)}};
  AddError(line.error, attributes);
  xml_.Open("span", attributes);
  for (size_t i = 0; i < line.words.size(); ++i) {
    const PlacedWord& word = line.words[i];
    const std::string confidence = Decimal(std::round(word.confidence * 100), 0);
    xml_.Leaf("span",
              {{"class", "ocrx_word"},
               {"id", "word_" + number + "_" + std::to_string(i + 1)},
               {"title", BoxText(word.place) + "; x_wconf " + confidence}},
              word.text);
  }
  xml_.Close();
}

std::string HocrWriter::End() {
  xml_.CloseAll();
  return xml_.Take();
}

}  // namespace platen
