#include "stages/assemble.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "stages/formats/list_mark.h"
#include "stages/formats/table_text.h"
#include "stages/join_results.h"
#include "stages/kinds/page_kinds.h"
#include "stages/reading_notes.h"
#include "stages/words.h"

namespace platen {
namespace {

// Text with its tokens.
struct Text {
  std::string text;
  std::vector<TokenResult> tokens;
};

// Text of one crop without the white space models leave at its ends.
Text TextOf(const CropReading& reading) {
  static constexpr char kSpace[] = " \t\r\n\f\v";
  Text out;
  const size_t first = reading.text.find_first_not_of(kSpace);
  if (first != std::string::npos) {
    out.text = reading.text.substr(first, reading.text.find_last_not_of(kSpace) - first + 1);
  }
  const auto skipped = static_cast<int>(std::min(first, reading.text.size()));
  const size_t tokens = std::min(reading.token_ends.size(), reading.probabilities.size());
  for (size_t i = 0; i < tokens; ++i) {
    const int end =
        std::clamp(reading.token_ends[i] - skipped, 0, static_cast<int>(out.text.size()));
    out.tokens.push_back({end, static_cast<double>(reading.probabilities[i])});
  }
  return out;
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

std::array<ResultPoint, 4> ToResult(const std::array<PointF, 4>& quad) {
  std::array<ResultPoint, 4> out;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = {static_cast<double>(quad[i].x), static_cast<double>(quad[i].y)};
  }
  return out;
}

// One more piece of a line: its text, tokens and words, which begin where the line's text ends.
void JoinPiece(const CropReading& reading, const Text& piece, LineResult& line) {
  JoinText(line.text, piece.text, ' ');
  const auto start = static_cast<int>(line.text.size() - piece.text.size());
  for (const TokenResult& token : piece.tokens) {
    line.tokens.push_back({token.end + start, token.probability});
  }
  line.from_text_layer = !reading.words.empty();
  for (WordResult word : line.from_text_layer
                             ? reading.words
                             : EstimateWords(piece.text, piece.tokens,
                                             ToResult(reading.origin.quad), reading.origin.gaps)) {
    word.begin += start;
    word.end += start;
    line.words.push_back(word);
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

const LayoutRegion* RegionOf(const PageLayout& layout, const CropReading& reading) {
  const int region = reading.origin.region;
  if (region < 0 || region >= static_cast<int>(layout.regions.size())) return nullptr;
  return &layout.regions[static_cast<size_t>(region)];
}

// The line a crop shows; nullptr if the crop is not one of the layout's lines.
const LayoutLine* LineOf(const PageLayout& layout, const CropReading& reading) {
  const LayoutRegion* region = RegionOf(layout, reading);
  const int line = reading.origin.line;
  if (region == nullptr || line < 0 || line >= static_cast<int>(region->lines.size())) {
    return nullptr;
  }
  return &region->lines[static_cast<size_t>(line)];
}

// The ends of the baseline of a line; it runs `line.baseline` below the quad's top edge.
std::array<ResultPoint, 2> BaselineOf(const LayoutLine& line) {
  if (line.baseline <= 0) return {};
  const auto quad = ToResult(line.quad);
  const double along_x = quad[1].x - quad[0].x, along_y = quad[1].y - quad[0].y;
  const double length = std::hypot(along_x, along_y);
  if (length <= 0) return {};
  const double down = static_cast<double>(line.baseline) / length;
  const ResultPoint shift = {-along_y * down, along_x * down};
  return {{{quad[0].x + shift.x, quad[0].y + shift.y}, {quad[1].x + shift.x, quad[1].y + shift.y}}};
}

// What a check box before a line is in its text. The model is not shown it.
std::string MarkOf(CheckBox check_box) {
  if (check_box == CheckBox::kEmpty) return std::string(kEmptyCheckBox);
  return check_box == CheckBox::kTicked ? std::string(kTickedCheckBox) : "";
}

// One line from its pieces.
LineResult AssembleLine(const PageLayout& layout, std::span<const CropReading> pieces) {
  LineResult line;
  const LayoutLine* origin = LineOf(layout, pieces.front());
  line.quad = ToResult(origin != nullptr ? origin->quad : pieces.front().origin.quad);
  line.box = BoundsOf(line.quad);
  if (origin != nullptr) {
    line.text = MarkOf(origin->check_box);
    line.baseline = BaselineOf(*origin);
    line.x_height = static_cast<double>(origin->letter_height);
    line.weight = static_cast<double>(origin->weight);
  }
  for (const CropReading& piece : pieces) {
    Text text = TextOf(piece);
    text.text = OnOneLine(std::move(text.text));
    JoinPiece(piece, text, line);
    Merge(line.confidence, ConfidenceOf(piece.probabilities));
    AddMissing(line.warnings, piece.warnings);
    MergeFinish(line.finish, piece.finish);
    if (line.error.empty()) line.error = piece.error;
  }
  return line;
}

// `place`: by the layout's line, its index among those of the result; absent: no crop was made of
// it.
TableResult TableOf(const TableLayout& layout, const std::map<int, int>& place) {
  TableResult table = {layout.rows, layout.columns, {}};
  for (const TableCell& cell : layout.cells) {
    CellResult out = {cell.row, cell.column, cell.row_span, cell.column_span, ToResult(cell.quad),
                      {},       {}};
    out.box = BoundsOf(out.quad);
    for (const int line : cell.lines) {
      if (const auto found = place.find(line); found != place.end()) {
        out.lines.push_back(found->second);
      }
    }
    table.cells.push_back(std::move(out));
  }
  return table;
}

void AddLines(const PageLayout& layout, std::span<const CropReading> readings,
              RegionResult& region) {
  const LayoutRegion* origin = RegionOf(layout, readings.front());
  std::map<int, int> place;
  while (!readings.empty()) {
    const int line_index = readings.front().origin.line;
    size_t pieces = 1;
    while (pieces < readings.size() && readings[pieces].origin.line == line_index) ++pieces;
    LineResult line = AssembleLine(layout, readings.first(pieces));
    readings = readings.subspan(pieces);
    place[line_index] = static_cast<int>(region.lines.size());
    AddLine(std::move(line), region);
  }
  if (origin != nullptr && origin->table) {
    region.table = TableOf(*origin->table, place);
    region.text = TableText(region);
  }
  // The page's own text has no markup.
  if (HasTextLayer(region)) region.syntax = TextSyntax::kPlain;
  FinishRegion(region);
}

void AddWhole(const CropReading& reading, RegionResult& region) {
  region.box = BoundsOf(ToResult(reading.origin.quad));
  Text text = TextOf(reading);
  region.text = std::move(text.text);
  region.tokens = std::move(text.tokens);
  region.confidence = ConfidenceOf(reading.probabilities);
  region.warnings = reading.warnings;
  region.finish = reading.finish;
  region.error = reading.error;
}

// What the layout says of the region; `origin` nullptr: a crop that is none of the layout's.
RegionResult NewRegion(const LayoutRegion* origin, const PageGeometry& geometry,
                       const ReadingConfig& reading) {
  RegionResult region;
  if (origin == nullptr) return region;
  const auto index = static_cast<int>(origin - geometry.layout.regions.data());
  if (const auto image = geometry.images.find(index); image != geometry.images.end()) {
    region.image = image->second;
  }
  region.kind = origin->kind;
  region.native_label = origin->native_label;
  region.syntax = reading.Of(origin->kind).syntax;
  region.quad = ToResult(origin->quad);
  region.box = BoundsOf(region.quad);
  region.score = static_cast<double>(origin->score);
  return region;
}

}  // namespace

PageResult AssemblePage(const PageGeometry& geometry, const std::vector<CropReading>& readings,
                        const ReadingConfig& reading) {
  PageResult page;
  page.page = geometry.page;
  page.width = geometry.width;
  page.height = geometry.height;
  page.dpi_x = geometry.dpi_x;
  page.dpi_y = geometry.dpi_y;
  page.in_file = geometry.in_file;
  page.rotation = geometry.layout.rotation;
  page.skew_degrees = static_cast<double>(geometry.layout.skew_degrees);
  page.x_height = static_cast<double>(geometry.layout.letter_height);
  int next_region = 0;
  const auto add_unread = [&](int end) {
    for (; next_region < end; ++next_region) {
      const LayoutRegion& region = geometry.layout.regions[static_cast<size_t>(next_region)];
      if (!region.read) page.regions.push_back(NewRegion(&region, geometry, reading));
    }
  };
  for (std::span<const CropReading> rest = readings; !rest.empty();) {
    const CropReading& first = rest.front();
    const LayoutRegion* origin = RegionOf(geometry.layout, first);
    size_t count = 1;
    while (count < rest.size() && rest[count].origin.region == first.origin.region) ++count;
    if (origin != nullptr) add_unread(first.origin.region);
    RegionResult region = NewRegion(origin, geometry, reading);
    if (first.origin.line == CropOrigin::kWholeRegion) {
      AddWhole(first, region);
    } else {
      AddLines(geometry.layout, rest.first(count), region);
    }
    page.regions.push_back(std::move(region));
    rest = rest.subspan(count);
  }
  add_unread(static_cast<int>(geometry.layout.regions.size()));
  AssignKinds(page);
  AddReadingNotes(reading, page);
  return page;
}

}  // namespace platen
