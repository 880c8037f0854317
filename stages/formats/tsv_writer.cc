#include "stages/formats/tsv_writer.h"

#include <algorithm>
#include <array>

#include "model/support/utf8.h"
#include "stages/formats/decimal.h"
#include "stages/formats/placed_page.h"

namespace platen {
namespace {

constexpr char kHeader[] =
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_"
    "num\tleft\ttop\twidth\theight\tconf\ttext\n";

// Rows of one page, in the order they stand in the file.
class Rows {
 public:
  enum Level { kPage = 1, kBlock, kParagraph, kLine, kWord };

  explicit Rows(int page) : numbers_{page, 0, 0, 0, 0} {}

  // The next row of `level`: counts it and starts the levels below anew.
  void Add(Level level, const PixelBox& box, const std::string& confidence = "-1",
           const std::string& text = "") {
    if (level > kPage) ++numbers_[level - 1];
    std::fill(numbers_.begin() + level, numbers_.end(), 0);
    out_ += std::to_string(level);
    for (const int number : numbers_) AddColumn(std::to_string(number));
    for (const int side : {box.x0, box.y0, box.width(), box.height()}) {
      AddColumn(std::to_string(side));
    }
    AddColumn(confidence);
    AddColumn(text);
    out_ += '\n';
  }

  std::string Take() { return std::move(out_); }

 private:
  void AddColumn(const std::string& text) { (out_ += '\t') += text; }

  std::array<int, 5> numbers_;  // of page, block, paragraph, line, word
  std::string out_;
};

// Nothing ends a column or row but what does: all controls are spaces.
std::string TextColumn(const std::string& text) {
  std::string out = ToValidUtf8(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return out;
}

void AddParagraph(const std::vector<PlacedLine>& lines, const Place& place, Rows& rows) {
  rows.Add(Rows::kParagraph, place.box);
  for (const PlacedLine& line : lines) {
    rows.Add(Rows::kLine, line.place.box);
    for (const PlacedWord& word : line.words) {
      rows.Add(Rows::kWord, word.place.box, Decimal(word.confidence * 100, 2),
               TextColumn(word.text));
    }
  }
}

}  // namespace

std::string TsvWriter::Begin(const DocumentInfo&) { return kHeader; }

std::string TsvWriter::Page(const PageResult& result) {
  const PlacedPage page = PlaceOnImage(result);
  Rows rows(page.page);
  rows.Add(Rows::kPage, {0, 0, page.width, page.height});
  for (const PlacedRegion& region : page.regions) {
    rows.Add(Rows::kBlock, region.place.box);
    for (const PlacedCell& cell : region.cells) {
      if (!cell.lines.empty()) AddParagraph(cell.lines, cell.place, rows);
    }
    if (!region.lines.empty()) AddParagraph(region.lines, region.place, rows);
  }
  return rows.Take();
}

}  // namespace platen
