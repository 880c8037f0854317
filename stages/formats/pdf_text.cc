#include "stages/formats/pdf_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stages/formats/decimal.h"

namespace platen {
namespace {

constexpr double kUnitsPerInch = 72;
constexpr double kLeastSide = 3, kMostSide = 14400;  // of a page, by PDF
constexpr double kAdvance = 0.5;                     // of every glyph, heights of the font
constexpr double kDescent = 0.25;                    // below the baseline

double UnitsPerPixel(double dpi, int pixels) {
  const bool sound = dpi >= 10 && dpi <= 10'000;
  const double units = kUnitsPerInch / (sound ? dpi : kUsualImageDpi);
  return std::clamp(units, kLeastSide / pixels, kMostSide / pixels);
}

using Corners = std::array<ResultPoint, 4>;  // along the text: top left, top right, bottom right, …

ResultPoint Middle(const ResultPoint& a, const ResultPoint& b) {
  return {(a.x + b.x) / 2, (a.y + b.y) / 2};
}

double Distance(const Pixel& a, const Pixel& b) { return std::hypot(a.x - b.x, a.y - b.y); }

// The unit vector in which text of this angle runs in the image.
ResultPoint AlongOf(int text_angle) {
  switch (text_angle) {
    case 90:
      return {0, -1};
    case 180:
      return {-1, 0};
    case 270:
      return {0, 1};
    default:
      return {1, 0};
  }
}

// The word's room in the image, levelled if its line is nearly level: readers of PDF take letters
// whose heights differ for parts of several lines.
Corners RoomOf(const PlacedWord& word, const PlacedLine& line) {
  constexpr double kNearlyLevel = 0.1;  // slope
  const auto& quad = word.place.quad;
  Corners corners;
  for (size_t i = 0; i < quad.size(); ++i) {
    corners[i] = {static_cast<double>(quad[i].x), static_cast<double>(quad[i].y)};
  }
  const ResultPoint along = AlongOf(line.text_angle);
  const auto& [first, second, third, fourth] = line.place.quad;
  const double rise = std::abs((second.x - first.x) * along.y - (second.y - first.y) * along.x);
  const double length = Distance(first, second);
  if (rise > kNearlyLevel * length) return corners;
  const ResultPoint centre = Middle(Middle(corners[0], corners[2]), Middle(corners[1], corners[3]));
  const double half = Distance(quad[0], quad[1]) / 2, height = Distance(first, fourth) / 2;
  const auto corner = [&](double forward, double down) {
    return ResultPoint{centre.x + forward * half * along.x - down * height * along.y,
                       centre.y + forward * half * along.y + down * height * along.x};
  };
  return {corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)};
}

// Shortens a room at its end so that white is left before the next: readers of PDF part words by
// it, whatever spaces there are.
void LeaveSpace(const Corners& next, Corners& room) {
  constexpr double kLeast = 0.2;  // heights
  const ResultPoint along = {room[1].x - room[0].x, room[1].y - room[0].y};
  const double length = std::hypot(along.x, along.y);
  const double height = std::hypot(room[3].x - room[0].x, room[3].y - room[0].y);
  if (length <= 0) return;
  const double gap =
      ((next[0].x - room[1].x) * along.x + (next[0].y - room[1].y) * along.y) / length;
  const double cut = std::clamp(kLeast * height - gap, 0.0, length / 2) / length;
  for (const size_t end : {1, 2}) {
    room[end].x -= along.x * cut;
    room[end].y -= along.y * cut;
  }
}

Corners OnPage(Corners corners, const PlacedPage& page, const PdfScale& scale) {
  for (ResultPoint& p : corners) p = {p.x * scale.x, (page.height - p.y) * scale.y};
  return corners;
}

size_t CountOf(const std::string& hex) { return (hex.size() - 2) / 4; }

// Shows codes such that they fill the parallelogram. What has no extent is not shown. The size of
// the font is the height of the text, not one unit that the matrix enlarges: some readers drop text
// of the latter kind where it is turned.
void ShowText(const std::string& hex, const Corners& corners, const std::string& font,
              std::string& out) {
  const auto& [top_left, top_right, bottom_right, bottom_left] = corners;
  const double up_x = top_left.x - bottom_left.x, up_y = top_left.y - bottom_left.y;
  const double size = std::hypot(up_x, up_y);
  const double length = kAdvance * static_cast<double>(CountOf(hex)) * size;
  if (size < 0.01) return;
  const double along_x = (bottom_right.x - bottom_left.x) / length;
  const double along_y = (bottom_right.y - bottom_left.y) / length;
  if (std::abs(along_x * up_y - along_y * up_x) < 1e-6 * size) return;
  out += font + " " + Decimal(size, 4) + " Tf ";
  for (const double number : {along_x, along_y, up_x / size, up_y / size,
                              bottom_left.x + kDescent * up_x, bottom_left.y + kDescent * up_y}) {
    out += Decimal(number, 5) + " ";
  }
  out += "Tm " + hex + " Tj\n";
}

// The words of a line, with a space in the room between two of them.
void ShowLine(const PlacedLine& line, const PlacedPage& page, const PdfScale& scale,
              const std::string& font, CodeTable& codes, std::string& out) {
  std::vector<Corners> rooms;
  for (const PlacedWord& word : line.words) rooms.push_back(RoomOf(word, line));
  for (size_t i = 0; i < rooms.size(); ++i) {
    const bool is_last = i + 1 == rooms.size();
    if (!is_last) LeaveSpace(rooms[i + 1], rooms[i]);
    const Corners& room = rooms[i];
    ShowText(codes.HexOf(line.words[i].text), OnPage(room, page, scale), font, out);
    if (is_last) continue;
    const Corners& next = rooms[i + 1];  // the space is as high as the word before it
    const ResultPoint step = {next[0].x - room[1].x, next[0].y - room[1].y};
    const ResultPoint along = AlongOf(line.text_angle);
    const double gap = step.x * along.x + step.y * along.y;
    const auto behind = [&](const ResultPoint& p) {
      return ResultPoint{p.x + gap * along.x, p.y + gap * along.y};
    };
    const Corners space = {room[1], behind(room[1]), behind(room[2]), room[2]};
    if (gap > 0) ShowText(codes.HexOf(" "), OnPage(space, page, scale), font, out);
  }
}

}  // namespace

PdfScale ScaleOf(const PlacedPage& page) {
  return {UnitsPerPixel(page.dpi_x, page.width), UnitsPerPixel(page.dpi_y, page.height)};
}

std::string TextOf(const PlacedPage& page, const PdfScale& scale, const std::string& font,
                   CodeTable& codes) {
  std::string out;
  for (const PlacedRegion& region : page.regions) {
    for (const PlacedLine* line : region.AllLines()) ShowLine(*line, page, scale, font, codes, out);
  }
  return out.empty() ? "" : "BT 3 Tr\n" + out + "ET";
}

}  // namespace platen
