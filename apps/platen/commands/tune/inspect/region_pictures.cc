#include "apps/platen/commands/tune/inspect/region_pictures.h"

#include <algorithm>
#include <charconv>
#include <climits>

#include "apps/platen/commands/ocr/reading_settings.h"
#include "model/ops/resize_image.h"
#include "model/support/error.h"
#include "model/support/utf8.h"
#include "stages/cut_pictures.h"
#include "stages/encode_image.h"

namespace platen {
namespace {

constexpr int kWidest = 960, kHighest = 640;  // of a region
constexpr int kPageWidest = 480, kPageHighest = 480;
constexpr int kQuality = 75;

// Something that the model was asked to read, as the result has it.
struct Unit {
  const std::string& text;
  const ResultBox& box;
};

std::vector<Unit> UnitsOf(const PageResult& page) {
  std::vector<Unit> units;
  for (const RegionResult& region : page.regions) {
    if (region.lines.empty() && !region.finish.empty()) units.push_back({region.text, region.box});
    for (const LineResult& line : region.lines) {
      if (!line.from_text_layer) units.push_back({line.text, line.box});
    }
  }
  return units;
}

// As the result has it: without white space at its ends, a line break as a space.
std::string Plain(std::string text) {
  constexpr char kSpace[] = " \t\r\n\f\v";
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Within the page, whatever numbers the result has.
BoxF WithMargin(const ResultBox& box, const Image& page) {
  const auto within = [](double value, int most) {
    return static_cast<float>(value > 0 ? std::min(value, static_cast<double>(most)) : 0);
  };
  const double height = box.y1 - box.y0;
  const double margin = height > 0 ? std::min(2 + 0.25 * height, 24.0) : 2;
  return {within(box.x0 - margin, page.width), within(box.y0 - margin, page.height),
          within(box.x1 + margin, page.width), within(box.y1 + margin, page.height)};
}

EncodedImage Encoded(Image image, int widest, int highest) {
  const double scale = std::min({1.0, static_cast<double>(widest) / image.width,
                                 static_cast<double>(highest) / image.height});
  const auto scaled = [scale](int side) {
    return std::max(1, static_cast<int>(scale * side + 0.5));
  };
  const int width = scaled(image.width), height = scaled(image.height);
  if (width != image.width || height != image.height) image = ResizeBicubic(image, width, height);
  return {"image/jpeg", ToJpeg(image, kQuality), width, height};
}

std::unique_ptr<DocumentReader> Open(const std::string& path,
                                     const std::vector<DocumentSetting>& settings) {
  return OpenAsRead(path, settings, {});
}

}  // namespace

std::optional<RegionPlace> ParsePlace(const std::string& text) {
  RegionPlace place;
  const char* const end = text.data() + text.size();
  const auto page = std::from_chars(text.data(), end, place.page);
  if (page.ec != std::errc() || page.ptr == end || *page.ptr != '/') return std::nullopt;
  const auto crop = std::from_chars(page.ptr + 1, end, place.crop);
  if (crop.ec != std::errc() || crop.ptr != end) return std::nullopt;
  if (place.page < 1 || place.crop < 0 || place.crop > INT_MAX) return std::nullopt;
  return place;
}

std::optional<ResultBox> BoxOf(const PageResult& page, int64_t crop, const std::string& text) {
  const std::vector<Unit> units = UnitsOf(page);
  const std::string wanted = Plain(text);
  if (wanted.empty()) return std::nullopt;
  const auto index = static_cast<size_t>(crop);
  if (crop >= 0 && index < units.size() && Plain(units[index].text) == wanted) {
    return units[index].box;
  }
  // A line that was cut in pieces, or one behind such a line.
  const Unit* found = nullptr;
  for (const Unit& unit : units) {
    if (Plain(unit.text).find(wanted) == std::string::npos) continue;
    if (found != nullptr) return std::nullopt;
    found = &unit;
  }
  if (found == nullptr) return std::nullopt;
  return found->box;
}

struct RegionPictures::Results {
  explicit Results(const std::string& folder)
      : root(Folder::Open(folder, Folder::Missing::kFail)),
        common(root.Below(".platen", Folder::Missing::kFail)),
        known(root.Below("", Folder::Missing::kFail), {}),
        store(common.Below("results", Folder::Missing::kFail)) {
    LoadLedgers(common, known);
  }

  Folder root, common;
  KnownDocuments known;
  ResultStore store;
};

RegionPictures::RegionPictures(const std::string& results_folder) {
  try {
    results_ = std::make_unique<Results>(results_folder);
  } catch (const Error&) {
    return;  // removed: there are no pictures
  }
  results_->known.ForEach([this](const DocumentRecord& record) {
    const auto [at, added] = outputs_.emplace(ToValidUtf8(record.name), record.output);
    if (!added) at->second.clear();
  });
}

RegionPictures::~RegionPictures() = default;

const std::optional<UprightPage>& RegionPictures::PageOf(const std::string& output, int page) {
  if (opened_ != std::pair(output, page)) {
    page_ = OpenPage(results_->known, results_->store, output, page, Open);
    opened_ = {output, page};
  }
  return page_;
}

RegionPicture RegionPictures::Of(const TrainingPage& region, const std::string& text) {
  const auto none = [](const char* why) { return RegionPicture{std::nullopt, false, why}; };
  if (!results_) return none("the results that were recorded with it are not there any more");
  const auto found = outputs_.find(region.document);
  const auto place = ParsePlace(region.place);
  if (found == outputs_.end() || found->second.empty() || !place) {
    return none("the results do not say which document it is of");
  }
  const std::optional<UprightPage>& page = PageOf(found->second, place->page);
  if (!page) return none("its result is not stored any more");
  if (!page->image) return none("the scan is not where it was read");
  const std::optional<ResultBox> box = BoxOf(page->result, place->crop, text);
  if (box) {
    const Image cut = CutOut(*page->image, WithMargin(*box, *page->image));
    if (!cut.empty()) return {Encoded(cut, kWidest, kHighest), false, ""};
  }
  return {Encoded(*page->image, kPageWidest, kPageHighest), true, ""};
}

}  // namespace platen
