#include "stages/formats/html_writer.h"

#include <algorithm>
#include <cmath>

#include "stages/formats/base64.h"
#include "stages/formats/decimal.h"
#include "stages/formats/html_assets.h"

namespace platen {
namespace {

// A line of a page as its list shows it.
struct Entry {
  const PlacedLine* line = nullptr;
  std::string key;         // of both its elements
  size_t place = 0;        // in reading order
  double certainty = 0;    // of its least certain word
  const char* level = "";  // class of both its elements
};

double CertaintyOf(const PlacedLine& line) {
  double least = line.words.empty() ? 0 : 1;
  for (const PlacedWord& word : line.words) least = std::min(least, word.confidence);
  return least;
}

const char* LevelOf(double certainty) {
  if (certainty < 0.6) return "k0";
  return certainty < 0.85 ? "k1" : "k2";
}

std::vector<Entry> EntriesOf(const PlacedPage& page, int page_number) {
  std::vector<Entry> entries;
  for (const PlacedRegion& region : page.regions) {
    for (const PlacedLine* line : region.AllLines()) {
      if (line->words.empty() && line->error.empty()) continue;
      const double certainty = CertaintyOf(*line);
      entries.push_back({line,
                         std::to_string(page_number) + "_" + std::to_string(entries.size() + 1),
                         entries.size(), certainty, LevelOf(certainty)});
    }
  }
  return entries;
}

void AddShapes(const std::vector<Entry>& entries, XmlWriter& xml) {
  for (const Entry& entry : entries) {
    xml.Empty("polygon", {{"id", "s" + entry.key},
                          {"class", entry.level},
                          {"data-line", entry.key},
                          {"points", PointsText(entry.line->place.quad)}});
  }
}

void AddList(std::vector<Entry> entries, XmlWriter& xml) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.certainty < b.certainty; });
  xml.Open("ol");
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    xml.Open("li", {{"id", "l" + entry.key},
                    {"class", entry.level},
                    {"data-line", entry.key},
                    {"data-n", std::to_string(entry.place)},
                    {"data-c", Decimal(std::round(entry.certainty * 10000), 0)},
                    {"tabindex", i == 0 ? "0" : "-1"}});
    const PlacedLine& line = *entry.line;
    xml.Leaf("span", {{"class", "t"}, {"dir", "auto"}},
             line.text.empty() ? "(" + line.error + ")" : line.text);
    xml.Leaf("span", {{"class", "c"}}, Decimal(std::round(entry.certainty * 100), 0) + " %");
    xml.Close();
  }
  xml.Close();
}

}  // namespace

std::string HtmlWriter::Begin(const DocumentInfo& info) {
  xml_ = XmlWriter();
  pages_ = 0;
  xml_.Open("html", {{"lang", ""}});
  xml_.Open("head");
  xml_.Empty("meta", {{"charset", "utf-8"}});
  xml_.Empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", kCheckPagePolicy}});
  xml_.Empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  xml_.Leaf("title", {}, info.source);
  const std::string head =
      "<!DOCTYPE html>\n" + xml_.Take() + "<style>" + kCheckPageStyle + "</style>\n";
  xml_.Close();
  xml_.Open("body");
  xml_.Open("header");
  xml_.Leaf("h1", {}, info.source);
  xml_.Leaf("button", {{"id", "order"}, {"type", "button"}, {"hidden", ""}},
            "Show in reading order");
  xml_.Leaf(
      "p", {},
      "Lines stand by their least certain word. Click a line, or Tab and the arrow keys; Enter "
      "shows it on the page.");
  xml_.Close();
  return head + xml_.Take();
}

std::string HtmlWriter::Page(const PageResult& result) {
  PageResult upright = result;  // as its picture is
  upright.rotation = 0;
  upright.in_file = {};
  const PlacedPage page = PlaceOnImage(upright);
  ++pages_;
  const std::vector<Entry> entries = EntriesOf(page, pages_);
  xml_.Open("section", {{"id", "p" + std::to_string(pages_)}});
  xml_.Leaf("h2", {}, page.page > 0 ? "Page " + std::to_string(page.page) : "Document");
  if (!page.error.empty()) AddNote("Not read: " + page.error);
  if (!page.doubts.empty()) AddNote("Doubtful: " + page.doubts);
  if (page.error.empty() && entries.empty()) AddNote("No text.");
  xml_.Open("div", {{"class", "pair"}});
  xml_.Open("div");
  if (page.width > 0 && page.height > 0) {
    xml_.Open("svg", {{"viewBox",
                       "0 0 " + std::to_string(page.width) + " " + std::to_string(page.height)}});
    AddScan(result, page);
    AddShapes(entries, xml_);
    xml_.Close();
  }
  xml_.Close();
  AddList(entries, xml_);
  xml_.Close();
  xml_.Close();
  return xml_.Take();
}

void HtmlWriter::AddScan(const PageResult& result, const PlacedPage& page) {
  const auto image = images_.upright ? images_.upright(result) : std::nullopt;
  if (!image) {
    xml_.Leaf("text", {{"x", "50%"}, {"y", "50%"}, {"text-anchor", "middle"}},
              "There is no picture of this page.");
    return;
  }
  xml_.Empty("image", {{"href", "data:" + image->media_type + ";base64," + Base64(image->bytes)},
                       {"width", std::to_string(page.width)},
                       {"height", std::to_string(page.height)},
                       {"preserveAspectRatio", "none"}});
}

void HtmlWriter::AddNote(const std::string& text) { xml_.Leaf("p", {{"class", "note"}}, text); }

std::string HtmlWriter::End() {
  const std::string body = xml_.Take() + "<script>" + kCheckPageScript + "</script>\n";
  xml_.CloseAll();
  return body + xml_.Take();
}

}  // namespace platen
