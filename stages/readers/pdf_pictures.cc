#include "stages/readers/pdf_pictures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace platen {
namespace {

// More pictures of a page are too many to be strips of one.
constexpr size_t kMostPictures = 4096;
constexpr double kMostSide = 1e6;  // pixels

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return fields;
    const std::string_view field = line.substr(0, line.find(' '));
    fields.push_back(field);
    line.remove_prefix(field.size());
  }
}

// A number above 0; 0: it is none.
double Positive(std::string_view field) {
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool whole = error == std::errc() && end == field.data() + field.size();
  return whole && value > 0 && value < kMostSide ? value : 0;
}

// page num type width height color comp bpc enc interp object ID x-ppi y-ppi size ratio; an inline
// picture has one word in place of object and ID.
std::optional<std::pair<int, ShownPicture>> PictureOf(std::string_view line) {
  const std::vector<std::string_view> fields = Fields(line);
  if (fields.size() < 13) return std::nullopt;
  const size_t ppi = fields[10].starts_with('[') ? 11 : 12;
  if (fields.size() < ppi + 2) return std::nullopt;
  const double page = Positive(fields[0]);
  const double width = Positive(fields[3]), height = Positive(fields[4]);
  const double ppi_x = Positive(fields[ppi]), ppi_y = Positive(fields[ppi + 1]);
  if (page < 1 || width < 1 || height < 1 || ppi_x < 1 || ppi_y < 1) return std::nullopt;
  return std::pair{
      static_cast<int>(page),
      ShownPicture{kPointsPerInch * width / ppi_x, kPointsPerInch * height / ppi_y, ppi_x, ppi_y}};
}

// Of the page that the picture can cover, square points: it may hang over, and be turned.
double Covered(const ShownPicture& picture, const PagePoints& page) {
  const double page_long = std::max(page.width, page.height);
  const double page_short = std::min(page.width, page.height);
  return std::min(std::max(picture.width, picture.height), page_long) *
         std::min(std::min(picture.width, picture.height), page_short);
}

}  // namespace

std::map<int, std::vector<ShownPicture>> PicturesFromPdfImages(std::string_view list) {
  std::map<int, std::vector<ShownPicture>> pictures;
  while (!list.empty()) {
    const std::string_view line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), line.size() + 1));
    const auto picture = PictureOf(line);
    if (!picture) continue;
    std::vector<ShownPicture>& of_page = pictures[picture->first];
    if (of_page.size() < kMostPictures) of_page.push_back(picture->second);
  }
  return pictures;
}

double ScanResolution(const std::vector<ShownPicture>& pictures, const PagePoints& page) {
  std::map<std::pair<long, long>, double> covered;  // by resolution; a turned strip is one, too
  for (const ShownPicture& picture : pictures) {
    const auto [low, high] = std::minmax(picture.ppi_x, picture.ppi_y);
    covered[{std::lround(low), std::lround(high)}] += Covered(picture, page);
  }
  double finest = 0;
  for (const auto& [resolution, area] : covered) {
    const bool covers = area > 0 && area >= kCovers * page.width * page.height;
    if (covers) finest = std::max(finest, static_cast<double>(resolution.second));
  }
  return finest;
}

}  // namespace platen
