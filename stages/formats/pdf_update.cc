#include "stages/formats/pdf_update.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "stages/formats/base64.h"
#include "stages/formats/decimal.h"
#include "stages/formats/pdf_parts.h"
#include "stages/formats/pdf_text.h"
#include "stages/formats/placed_page.h"
#include "stages/formats/qpdf_objects.h"

namespace platen {
namespace {

using Json = QpdfObjects::Json;

Json Stream(const std::string& bytes, Json entries = Json::object()) {
  return {{"stream", {{"data", Base64(bytes)}, {"dict", std::move(entries)}}}};
}

// Only of text that was read: what the page has itself stays where it is.
PageResult WithoutOwnText(PageResult page) {
  for (RegionResult& region : page.regions) {
    if (!HasTextLayer(region)) continue;
    std::erase_if(region.lines, [](const LineResult& line) { return line.from_text_layer; });
    region.table.reset();
    if (region.lines.empty()) region.text.clear();
  }
  return page;
}

struct Crop {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

// From the lower left corner of the page as it is shown to its own space.
std::string ToPageSpace(const Crop& crop, int rotation) {
  const auto matrix = [](const char* turn, double x, double y) {
    return std::string(turn) + " " + Decimal(x, 4) + " " + Decimal(y, 4) + " cm\n";
  };
  if (rotation == 90) return matrix("0 1 -1 0", crop.x1, crop.y0);
  if (rotation == 180) return matrix("-1 0 0 -1", crop.x1, crop.y1);
  if (rotation == 270) return matrix("0 -1 1 0", crop.x0, crop.y1);
  return matrix("1 0 0 1", crop.x0, crop.y0);
}

}  // namespace

struct PdfUpdate::Objects {
  Objects(std::string_view description, DescribeStreams describe)
      : all(description), old_text(all, std::move(describe)) {}

  const QpdfObjects all;
  OldPdfText old_text;
  Json changed = Json::object();
  int next = 0;                // number of the next new object
  int font = 0;                // number; 0: no page has needed it
  int before = 0;              // of the content that stands before all others
  std::vector<int> keep_text;  // pages
  CodeTable codes;

  std::string Reserve() { return std::to_string(next++) + " 0 R"; }

  std::string Make(Json value) {
    std::string reference = Reserve();
    changed[ObjectKey(reference)] = std::move(value);
    return reference;
  }

  // Of a box of the page, its corners in order.
  bool BoxOf(const Json& page, const char* key, Crop& box) const {
    const Json value = all.Inherited(page, key);
    if (!value.is_array() || value.size() != 4) return false;
    std::array<double, 4> at = {};
    for (size_t i = 0; i < at.size(); ++i) {
      const Json& number = all.Resolved(value[i]);
      if (!number.is_number()) return false;
      at[i] = number.get<double>();
      if (!(std::abs(at[i]) < 1e6)) return false;
    }
    box = {std::min(at[0], at[2]), std::min(at[1], at[3]), std::max(at[0], at[2]),
           std::max(at[1], at[3])};
    return box.x0 < box.x1 && box.y0 < box.y1;
  }

  Crop CropOf(const Json& page) const {
    Crop media, crop;
    if (!BoxOf(page, "/MediaBox", media)) QpdfObjects::Fail("a page has no size");
    if (!BoxOf(page, "/CropBox", crop)) return media;
    const Crop both = {std::max(media.x0, crop.x0), std::max(media.y0, crop.y0),
                       std::min(media.x1, crop.x1), std::min(media.y1, crop.y1)};
    return both.x0 < both.x1 && both.y0 < both.y1 ? both : media;
  }

  int RotationOf(const Json& page) const {
    const Json value = all.Inherited(page, "/Rotate");
    if (!value.is_number_integer()) return 0;
    return static_cast<int>((value.get<int64_t>() % 360 + 360) % 360);
  }

  // The page's resources with the font under a name that it does not have yet. Shared ones are not
  // changed.
  Json ResourcesOf(const Json& page, std::string& name) {
    if (font == 0) font = next++;
    Json resources = all.Inherited(page, "/Resources");
    if (!resources.is_object()) resources = Json::object();
    Json fonts = resources.contains("/Font") ? all.Resolved(resources["/Font"]) : Json::object();
    if (!fonts.is_object()) fonts = Json::object();
    for (name = "/Text"; fonts.contains(name);) name += "X";
    fonts[name] = std::to_string(font) + " 0 R";
    resources["/Font"] = std::move(fonts);
    return resources;
  }

  // The page's contents, without invisible text if all of the page was read. `resources`: the
  // page's own.
  Json OldContents(const PageResult& result, const Json& listed, Json& resources) {
    if (HasTextLayer(result)) return listed["contents"];
    PageWithoutText old = old_text.Without(static_cast<size_t>(result.page) - 1, resources,
                                           [this](Json value) { return Make(std::move(value)); });
    if (old.keeps_text) keep_text.push_back(result.page);
    if (!old.forms.empty()) {
      Json forms = all.Resolved(resources["/XObject"]);
      forms.update(old.forms);
      resources["/XObject"] = std::move(forms);
    }
    return old.content ? Json::array({Make(Stream(*old.content))}) : listed["contents"];
  }

  void AddFont() {
    const std::string cid = Reserve(), descriptor = Reserve(), file = Reserve();
    const std::string unicode = Reserve(), map = Reserve();
    Set(std::to_string(font) + " 0 R", {{"/Type", "/Font"},
                                        {"/Subtype", "/Type0"},
                                        {"/BaseFont", "/PlatenEmpty"},
                                        {"/Encoding", "/Identity-H"},
                                        {"/DescendantFonts", Json::array({cid})},
                                        {"/ToUnicode", unicode}});
    Set(cid, {{"/Type", "/Font"},
              {"/Subtype", "/CIDFontType2"},
              {"/BaseFont", "/PlatenEmpty"},
              {"/CIDSystemInfo",
               {{"/Registry", "u:Adobe"}, {"/Ordering", "u:Identity"}, {"/Supplement", 0}}},
              {"/DW", 500},
              {"/FontDescriptor", descriptor},
              {"/CIDToGIDMap", map}});
    Set(descriptor, {{"/Type", "/FontDescriptor"},
                     {"/FontName", "/PlatenEmpty"},
                     {"/Flags", 4},
                     {"/FontBBox", {0, -250, 500, 750}},
                     {"/ItalicAngle", 0},
                     {"/Ascent", 750},
                     {"/Descent", -250},
                     {"/CapHeight", 750},
                     {"/StemV", 80},
                     {"/FontFile2", file}});
    const std::string bytes = EmptyFont();
    changed[ObjectKey(file)] = Stream(bytes, {{"/Length1", bytes.size()}});
    changed[ObjectKey(unicode)] = Stream(codes.ToUnicode());
    changed[ObjectKey(map)] = Stream(codes.GlyphMap());
  }

  void Set(const std::string& reference, Json value) {
    changed[ObjectKey(reference)] = {{"value", std::move(value)}};
  }
};

PdfUpdate::PdfUpdate(std::string_view description, DescribeStreams describe)
    : objects_(std::make_unique<Objects>(description, std::move(describe))) {
  const Json& head = objects_->all.head();
  constexpr int kMostObjects = 8'000'000;
  const auto last = head.find("maxobjectid");
  if (last == head.end() || !last->is_number_integer() || last->get<int64_t>() < 1 ||
      last->get<int64_t>() > kMostObjects) {
    QpdfObjects::Fail("does not say how many objects there are");
  }
  objects_->next = last->get<int>() + 1;
}

PdfUpdate::~PdfUpdate() = default;

int PdfUpdate::num_pages() const { return static_cast<int>(objects_->all.pages().size()); }

bool PdfUpdate::empty() const { return objects_->font == 0; }

void PdfUpdate::Add(const PageResult& result) {
  const PlacedPage placed = PlaceOnImage(WithoutOwnText(result));
  const auto has_text = [](const PlacedRegion& region) {
    const auto lines = region.AllLines();
    return std::any_of(lines.begin(), lines.end(),
                       [](const PlacedLine* line) { return !line->words.empty(); });
  };
  if (placed.width <= 0 || std::none_of(placed.regions.begin(), placed.regions.end(), has_text)) {
    return;
  }
  if (result.page < 1 || result.page > num_pages())
    QpdfObjects::Fail("has no page " + std::to_string(result.page));
  const Json& listed = objects_->all.pages()[static_cast<size_t>(result.page) - 1];
  if (!listed.is_object() || !listed.value("object", Json()).is_string() ||
      !listed.value("contents", Json()).is_array()) {
    QpdfObjects::Fail("a page has no object");
  }
  const std::string reference = listed["object"].get<std::string>();
  Json page = objects_->all.Resolved(listed["object"]);
  if (!page.is_object()) QpdfObjects::Fail("a page is no dictionary");
  const Crop crop = objects_->CropOf(page);
  const int rotation = objects_->RotationOf(page);
  const PdfScale scale = ScaleOf(placed);
  // The image's last row may be begun only, at the lower edge.
  const double height = rotation % 180 == 0 ? crop.y1 - crop.y0 : crop.x1 - crop.x0;
  const std::string down = Decimal(height - placed.height * scale.y, 4);
  std::string font;
  Json resources = objects_->ResourcesOf(page, font);
  if (objects_->before == 0) {
    objects_->before = objects_->next++;
    objects_->changed[ObjectKey(std::to_string(objects_->before) + " 0 R")] = Stream("q\n");
  }
  Json contents = Json::array({std::to_string(objects_->before) + " 0 R"});
  for (Json& part : objects_->OldContents(result, listed, resources)) {
    contents.push_back(std::move(part));
  }
  contents.push_back(
      objects_->Make(Stream("\nQ q\n" + ToPageSpace(crop, rotation) + "1 0 0 1 0 " + down +
                            " cm\n" + TextOf(placed, scale, font, objects_->codes) + "\nQ\n")));
  page["/Resources"] = std::move(resources);
  page["/Contents"] = std::move(contents);
  objects_->Set(reference, std::move(page));
}

const std::vector<int>& PdfUpdate::keep_text() const { return objects_->keep_text; }

std::string PdfUpdate::Take() {
  if (!empty()) objects_->AddFont();
  Json head = objects_->all.head();
  head["maxobjectid"] = objects_->next - 1;
  return Json{{"qpdf", {std::move(head), std::move(objects_->changed)}}}.dump();
}

}  // namespace platen
