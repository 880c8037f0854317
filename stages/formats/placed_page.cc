#include "stages/formats/placed_page.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "stages/formats/html_text.h"

namespace platen {
namespace {

// No number counts as 0.
double Clamped(double value, double least, double most) {
  return value > least ? std::min(value, most) : least;
}

// Rounded as stored pages are, so that those that were stored and others give the same outputs.
double Probability(double value) { return std::round(Clamped(value, 0, 1) * 10000) / 10000; }
double Stored(double pixels) { return std::round(pixels * 10) / 10; }

// Anything else that a page may claim is no rotation.
int RotationOf(const PageResult& page) {
  const bool known = page.rotation == 90 || page.rotation == 180 || page.rotation == 270;
  return known ? page.rotation : 0;
}

// From the upright page to the image.
class ImageSpace {
 public:
  explicit ImageSpace(const PageResult& page) : rotation_(RotationOf(page)) {
    upright_width_ = std::max(page.width, 0);
    upright_height_ = std::max(page.height, 0);
    width_ = upright_width_;
    height_ = upright_height_;
    if (rotation_ % 180 != 0) std::swap(width_, height_);
    if (page.in_file.width <= 0 || page.in_file.height <= 0 || width_ == 0 || height_ == 0) return;
    scale_x_ = static_cast<double>(page.in_file.width) / width_;
    scale_y_ = static_cast<double>(page.in_file.height) / height_;
    width_ = page.in_file.width;
    height_ = page.in_file.height;
  }

  int width() const { return width_; }
  int height() const { return height_; }

  ResultPoint Of(const ResultPoint& p) const {
    const ResultPoint turned = TurnedBack({Stored(p.x), Stored(p.y)});
    return {Clamped(turned.x * scale_x_, 0, width_), Clamped(turned.y * scale_y_, 0, height_)};
  }

  Place PlaceOf(const std::array<ResultPoint, 4>& quad) const;

 private:
  ResultPoint TurnedBack(const ResultPoint& p) const {
    switch (rotation_) {
      case 90:
        return {p.y, upright_width_ - p.x};
      case 180:
        return {upright_width_ - p.x, upright_height_ - p.y};
      case 270:
        return {upright_height_ - p.y, p.x};
      default:
        return p;
    }
  }

  int rotation_ = 0;
  int upright_width_ = 0, upright_height_ = 0;
  int width_ = 0, height_ = 0;
  double scale_x_ = 1, scale_y_ = 1;
};

// Makes room for a pixel between `low` and `high` in [0, size].
void KeepApart(int& low, int& high, int size) {
  if (high > low || size == 0) return;
  high = std::min(low + 1, size);
  low = high - 1;
}

Place ImageSpace::PlaceOf(const std::array<ResultPoint, 4>& quad) const {
  Place place;
  double x0 = width_, y0 = height_, x1 = 0, y1 = 0;
  for (size_t i = 0; i < quad.size(); ++i) {
    const ResultPoint p = Of(quad[i]);
    place.quad[i] = {static_cast<int>(std::lround(p.x)), static_cast<int>(std::lround(p.y))};
    x0 = std::min(x0, p.x);
    y0 = std::min(y0, p.y);
    x1 = std::max(x1, p.x);
    y1 = std::max(y1, p.y);
  }
  PixelBox& box = place.box;
  box = {static_cast<int>(std::floor(x0)), static_cast<int>(std::floor(y0)),
         static_cast<int>(std::ceil(x1)), static_cast<int>(std::ceil(y1))};
  KeepApart(box.x0, box.x1, width_);
  KeepApart(box.y0, box.y1, height_);
  const auto aligned = [&](size_t a, size_t b) {
    return place.quad[a].x == place.quad[b].x || place.quad[a].y == place.quad[b].y;
  };
  place.slanted = !(aligned(0, 1) && aligned(1, 2) && aligned(2, 3) && aligned(3, 0));
  return place;
}

int TextAngleOf(const Place& place) {
  const int along_x = place.quad[1].x - place.quad[0].x;
  const int along_y = place.quad[1].y - place.quad[0].y;
  if (std::abs(along_x) >= std::abs(along_y)) return along_x < 0 ? 180 : 0;
  return along_y < 0 ? 90 : 270;
}

std::array<ResultPoint, 4> QuadOf(const ResultBox& box) {
  return {{{box.x0, box.y0}, {box.x1, box.y0}, {box.x1, box.y1}, {box.x0, box.y1}}};
}

ResultPoint Between(const ResultPoint& a, const ResultPoint& b, double part) {
  return {a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part};
}

std::string OnOneLine(std::string_view text) {
  static constexpr std::string_view kSpace = " \t\r\n\f\v";
  std::string out;
  for (const char c : text) {
    const bool space = kSpace.find(c) != std::string_view::npos;
    if (!space) out += c;
    if (space && !out.empty() && out.back() != ' ') out += ' ';
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

// Of text that is the page's own nobody was in doubt.
template <typename Item>
Confidence ConfidenceOf(const Item& item, bool from_text_layer) {
  return from_text_layer && item.confidence.tokens == 0 ? Confidence{0, 1, 1} : item.confidence;
}

// What stands in the text before, between and behind the words that the line has places for.
class WordList {
 public:
  WordList(const LineResult& line, const ImageSpace& space) : line_(line), space_(space) {}

  std::vector<PlacedWord> Make() {
    const auto size = static_cast<int>(line_.text.size());
    std::array<ResultPoint, 2> before = BeforeLine();
    for (const WordResult& word : line_.words) {
      const int begin = std::clamp(word.begin, at_, size);
      const int end = std::clamp(word.end, begin, size);
      AddBetween(begin, before, {word.quad[0], word.quad[3]});
      Add(at_, end, word.quad, word.confidence);
      before = {word.quad[1], word.quad[2]};
    }
    AddBetween(size, before, {line_.quad[1], line_.quad[2]});
    return std::move(words_);
  }

 private:
  // The left edge of a square before the line, where a check box is.
  std::array<ResultPoint, 2> BeforeLine() const {
    const auto& [top_left, top_right, bottom_right, bottom_left] = line_.quad;
    const double length = std::hypot(top_right.x - top_left.x, top_right.y - top_left.y);
    const double height = std::hypot(bottom_left.x - top_left.x, bottom_left.y - top_left.y);
    const double back = length > 0 ? -height / length : 0;
    return {Between(top_left, top_right, back), Between(bottom_left, bottom_right, back)};
  }

  void AddBetween(int end, const std::array<ResultPoint, 2>& left,
                  const std::array<ResultPoint, 2>& right) {
    Add(at_, end, {left[0], right[0], right[1], left[1]},
        ConfidenceOf(line_, line_.from_text_layer).min);
  }

  void Add(int begin, int end, const std::array<ResultPoint, 4>& quad, double confidence) {
    at_ = end;
    const std::string text =
        OnOneLine(std::string_view(line_.text)
                      .substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    if (!text.empty()) words_.push_back({text, space_.PlaceOf(quad), Probability(confidence)});
  }

  const LineResult& line_;
  const ImageSpace& space_;
  int at_ = 0;  // bytes of the text before it are in words
  std::vector<PlacedWord> words_;
};

PlacedLine LineOf(const LineResult& line, const ImageSpace& space) {
  PlacedLine out;
  out.text = OnOneLine(line.text);
  out.place = space.PlaceOf(line.quad);
  out.text_angle = TextAngleOf(out.place);
  const auto& [left, right] = line.baseline;
  if (left.x != right.x || left.y != right.y) out.baseline = {space.Of(left), space.Of(right)};
  const Confidence confidence = ConfidenceOf(line, line.from_text_layer);
  out.confidence = Probability(confidence.mean);
  out.error = line.error;
  if (!line.words.empty()) {
    out.words = WordList(line, space).Make();
  } else if (!out.text.empty()) {
    out.words = {{out.text, out.place, Probability(confidence.min)}};
  }
  return out;
}

std::string PlainTextOf(const RegionResult& region) {
  return region.syntax == TextSyntax::kHtml ? TextOfHtml(region.text) : region.text;
}

bool HasPlace(const std::array<ResultPoint, 4>& quad) {
  return std::any_of(quad.begin(), quad.end(),
                     [](const ResultPoint& p) { return p.x != 0 || p.y != 0; });
}

// Of a region that was read as a whole: its text's lines in strips of equal height.
std::vector<LineResult> StripsOf(const RegionResult& region) {
  std::vector<LineResult> lines;
  const std::string text = PlainTextOf(region);
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = OnOneLine(std::string_view(text).substr(start, end - start));
    if (!line.empty()) lines.emplace_back().text = line;
    start = end + 1;
  }
  const auto quad = HasPlace(region.quad) ? region.quad : QuadOf(region.box);
  const auto count = static_cast<double>(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const double top = static_cast<double>(i) / count, bottom = static_cast<double>(i + 1) / count;
    lines[i].quad = {Between(quad[0], quad[3], top), Between(quad[1], quad[2], top),
                     Between(quad[1], quad[2], bottom), Between(quad[0], quad[3], bottom)};
    lines[i].confidence = region.confidence;
  }
  return lines;
}

// Moves the lines that cells name into them.
void MoveToCells(const TableResult& table, const ImageSpace& space, PlacedRegion& region) {
  region.rows = table.rows;
  region.columns = table.columns;
  std::vector<bool> moved(region.lines.size());
  for (const CellResult& cell : table.cells) {
    PlacedCell out = {cell.row, cell.column, cell.row_span, cell.column_span, {}, {}};
    out.place = space.PlaceOf(HasPlace(cell.quad) ? cell.quad : QuadOf(cell.box));
    for (const int line : cell.lines) {
      const auto index = static_cast<size_t>(line);
      if (index >= moved.size() || moved[index]) continue;
      moved[index] = true;
      out.lines.push_back(region.lines[index]);
    }
    region.cells.push_back(std::move(out));
  }
  std::stable_sort(region.cells.begin(), region.cells.end(),
                   [](const PlacedCell& a, const PlacedCell& b) {
                     return a.row != b.row ? a.row < b.row : a.column < b.column;
                   });
  std::vector<PlacedLine> rest;
  for (size_t i = 0; i < moved.size(); ++i) {
    if (!moved[i]) rest.push_back(std::move(region.lines[i]));
  }
  region.lines = std::move(rest);
}

PlacedRegion RegionOf(const RegionResult& region, const ImageSpace& space) {
  PlacedRegion out;
  out.kind = region.kind;
  out.confidence = Probability(ConfidenceOf(region, HasTextLayer(region)).mean);
  out.error = region.error;
  // The box of what was read may be smaller or larger than the outline, which is often absent.
  const bool has_box = region.box.x1 > region.box.x0 && region.box.y1 > region.box.y0;
  out.place = space.PlaceOf(has_box ? QuadOf(region.box) : region.quad);
  const std::vector<LineResult> strips =
      region.lines.empty() ? StripsOf(region) : std::vector<LineResult>();
  for (const LineResult& line : region.lines.empty() ? strips : region.lines) {
    out.lines.push_back(LineOf(line, space));
    out.text += (out.text.empty() ? "" : "\n") + out.lines.back().text;
  }
  if (region.table) MoveToCells(*region.table, space, out);
  return out;
}

}  // namespace

std::string PointsText(std::span<const Pixel> points) {
  std::string text;
  for (const Pixel& p : points) {
    text += (text.empty() ? "" : " ") + std::to_string(p.x) + "," + std::to_string(p.y);
  }
  return text;
}

std::vector<const PlacedLine*> PlacedRegion::AllLines() const {
  std::vector<const PlacedLine*> all;
  for (const PlacedCell& cell : cells) {
    for (const PlacedLine& line : cell.lines) all.push_back(&line);
  }
  for (const PlacedLine& line : lines) all.push_back(&line);
  return all;
}

PlacedPage PlaceOnImage(const PageResult& page) {
  const ImageSpace space(page);
  PlacedPage out;
  out.page = page.page;
  out.width = space.width();
  out.height = space.height();
  out.rotation = RotationOf(page);
  const bool stretched = page.in_file.width > 0;
  out.dpi_x = stretched ? page.in_file.dpi_x : page.dpi_x;
  out.dpi_y = stretched ? page.in_file.dpi_y : page.dpi_y;
  if (!stretched && out.rotation % 180 != 0) std::swap(out.dpi_x, out.dpi_y);
  double sum = 0;
  int64_t tokens = 0;
  for (const RegionResult& region : page.regions) {
    out.regions.push_back(RegionOf(region, space));
    sum += Probability(region.confidence.mean) * region.confidence.tokens;
    tokens += region.confidence.tokens;
  }
  if (tokens > 0) out.confidence = Probability(sum / static_cast<double>(tokens));
  out.error = page.error;
  for (const Doubt& doubt : page.doubts)
    out.doubts += (out.doubts.empty() ? "" : "; ") + doubt.text;
  return out;
}

}  // namespace platen
