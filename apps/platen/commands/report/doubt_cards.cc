#include "apps/platen/commands/report/doubt_cards.h"

#include "model/support/grouped.h"
#include "stages/doubts.h"
#include "stages/formats/base64.h"

namespace platen {
namespace {

void WritePicture(const GalleryPage& shown, XmlWriter& xml) {
  const std::string width = std::to_string(shown.page.width);
  const std::string height = std::to_string(shown.page.height);
  xml.Open("svg", {{"viewBox", "0 0 " + width + " " + height}});
  if (shown.image) {
    xml.Empty("image", {{"href", "data:" + shown.image->media_type + ";base64," +
                                     Base64(shown.image->bytes)},
                        {"width", width},
                        {"height", height}});
  }
  for (const PlacedRegion& region : shown.page.regions) {
    for (const PlacedLine* line : region.AllLines()) {
      const bool low = line->confidence < kLowLineConfidence;
      xml.Empty("polygon",
                {{"class", low ? "low" : "sure"}, {"points", PointsText(line->place.quad)}});
    }
  }
  xml.Close();
}

void WriteCard(const DoubtfulCard& card, XmlWriter& xml) {
  xml.Open("div", {{"class", "card"}});
  if (card.page && card.page->page.width > 0 && card.page->page.height > 0) {
    WritePicture(*card.page, xml);
  }
  xml.Open("div");
  xml.Leaf("b", {}, PageName(card.doubt.name, card.doubt.page));
  xml.Leaf("p", {}, card.doubt.text);
  if (!card.page) {
    xml.Leaf("p", {{"class", "soft"}}, "Its result is not stored any more.");
  } else if (!card.page->image) {
    xml.Leaf("p", {{"class", "soft"}}, "The scan is not where it was read.");
  }
  xml.Close();
  xml.Close();
}

}  // namespace

std::string PageName(const std::string& document, int64_t page) {
  return page > 0 ? document + ", page " + std::to_string(page) : document;
}

void WriteDoubts(const ReportFacts& facts, XmlWriter& xml) {
  if (facts.doubtful_pages == 0) return;
  xml.Leaf("h2", {}, "Doubtful pages");
  xml.Leaf("p", {},
           "Read, but perhaps not well: worth a look. Lines that the model was unsure of are red.");
  xml.Open("div", {{"class", "cards"}});
  for (const DoubtfulCard& card : facts.doubtful) WriteCard(card, xml);
  xml.Close();
  const auto shown = static_cast<int64_t>(facts.doubtful.size());
  if (shown < facts.doubtful_pages) {
    xml.Leaf("p", {{"class", "soft"}},
             Grouped(shown) + " of " + Grouped(facts.doubtful_pages) +
                 " are shown (--pictures); all are in run.json.");
  }
}

}  // namespace platen
