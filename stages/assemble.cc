#include "stages/assemble.h"

#include <algorithm>
#include <span>

namespace platen {
namespace {

// Text of one crop without the white space models leave at its ends.
std::string Trimmed(const std::string& text) {
  static constexpr char kSpace[] = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// A line is one line: breaks the model put inside become spaces.
std::string OnOneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

Confidence ConfidenceOf(const std::vector<float>& probabilities) {
  Confidence confidence;
  confidence.tokens = static_cast<int>(probabilities.size());
  if (probabilities.empty()) return confidence;
  confidence.min = 1;
  for (const float p : probabilities) {
    confidence.mean += static_cast<double>(p);
    confidence.min = std::min(confidence.min, static_cast<double>(p));
  }
  confidence.mean /= confidence.tokens;
  return confidence;
}

// Confidence over the tokens of both.
void Merge(Confidence& into, const Confidence& other) {
  if (other.tokens == 0) return;
  const int tokens = into.tokens + other.tokens;
  into.min = into.tokens == 0 ? other.min : std::min(into.min, other.min);
  into.mean = (into.mean * into.tokens + other.mean * other.tokens) / tokens;
  into.tokens = tokens;
}

void JoinText(std::string& into, const std::string& text, char separator) {
  if (!into.empty() && !text.empty()) into += separator;
  into += text;
}

void AddMissing(std::vector<std::string>& into, const std::vector<std::string>& from) {
  for (const std::string& item : from) {
    if (std::find(into.begin(), into.end(), item) == into.end()) into.push_back(item);
  }
}

ResultBox BoundsOf(const std::array<ResultPoint, 4>& quad) {
  ResultBox box{quad[0].x, quad[0].y, quad[0].x, quad[0].y};
  for (const ResultPoint& p : quad) {
    box = {std::min(box.x0, p.x), std::min(box.y0, p.y), std::max(box.x1, p.x),
           std::max(box.y1, p.y)};
  }
  return box;
}

ResultBox Union(const ResultBox& a, const ResultBox& b) {
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

std::array<ResultPoint, 4> ToResult(const std::array<PointF, 4>& quad) {
  std::array<ResultPoint, 4> out;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = {static_cast<double>(quad[i].x), static_cast<double>(quad[i].y)};
  }
  return out;
}

// The line a crop shows; nullptr if the crop is not one of the layout's lines.
const LayoutLine* LineOf(const PageLayout& layout, const CropReading& reading) {
  const int line = reading.origin.line;
  if (line < 0 || line >= static_cast<int>(layout.lines.size())) return nullptr;
  return &layout.lines[static_cast<size_t>(line)];
}

// One line from its pieces.
LineResult AssembleLine(const PageLayout& layout, std::span<const CropReading> pieces) {
  LineResult line;
  const LayoutLine* origin = LineOf(layout, pieces.front());
  line.quad = ToResult(origin != nullptr ? origin->quad : pieces.front().origin.quad);
  line.box = BoundsOf(line.quad);
  for (const CropReading& piece : pieces) {
    JoinText(line.text, OnOneLine(Trimmed(piece.text)), ' ');
    Merge(line.confidence, ConfidenceOf(piece.probabilities));
    AddMissing(line.warnings, piece.warnings);
    if (line.error.empty()) line.error = piece.error;
  }
  return line;
}

void FinishRegion(RegionResult& region) {
  const auto failed = std::count_if(region.lines.begin(), region.lines.end(),
                                    [](const LineResult& line) { return !line.error.empty(); });
  if (failed > 0) {
    region.error = std::to_string(failed) + " of " + std::to_string(region.lines.size()) +
                   " lines could not be read";
  }
}

std::vector<RegionResult> AssembleLines(const PageLayout& layout,
                                        std::span<const CropReading> readings,
                                        const std::string& label) {
  std::vector<RegionResult> regions;
  int block = -1;
  while (!readings.empty()) {
    const int line_index = readings.front().origin.line;
    size_t pieces = 1;
    while (pieces < readings.size() && readings[pieces].origin.line == line_index) ++pieces;
    LineResult line = AssembleLine(layout, readings.first(pieces));
    const LayoutLine* origin = LineOf(layout, readings.front());
    readings = readings.subspan(pieces);

    if (regions.empty() || origin == nullptr || origin->block != block) {
      if (!regions.empty()) FinishRegion(regions.back());
      regions.emplace_back();
      regions.back().label = label;
      regions.back().box = line.box;
      block = origin == nullptr ? -1 : origin->block;
    }
    RegionResult& region = regions.back();
    region.box = Union(region.box, line.box);
    JoinText(region.text, line.text, '\n');
    Merge(region.confidence, line.confidence);
    AddMissing(region.warnings, line.warnings);
    region.lines.push_back(std::move(line));
  }
  if (!regions.empty()) FinishRegion(regions.back());
  return regions;
}

RegionResult AssembleWhole(const CropReading& reading, const std::string& label) {
  RegionResult region;
  region.label = label;
  region.box = BoundsOf(ToResult(reading.origin.quad));
  region.text = Trimmed(reading.text);
  region.confidence = ConfidenceOf(reading.probabilities);
  region.warnings = reading.warnings;
  region.error = reading.error;
  return region;
}

}  // namespace

PageResult AssemblePage(const PageGeometry& geometry, const std::vector<CropReading>& readings,
                        ReadingConfig::Granularity granularity, const std::string& label) {
  PageResult page;
  page.page = geometry.page;
  page.width = geometry.width;
  page.height = geometry.height;
  page.rotation = geometry.layout.rotation;
  page.skew_degrees = static_cast<double>(geometry.layout.skew_degrees);
  if (granularity == ReadingConfig::Granularity::kLine) {
    page.regions = AssembleLines(geometry.layout, readings, label);
  } else {
    for (const CropReading& reading : readings) {
      page.regions.push_back(AssembleWhole(reading, label));
    }
  }
  return page;
}

}  // namespace platen
