#include "stages/kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/support/utf8.h"
#include "stages/join_results.h"

namespace platen {
namespace {

// x-heights in those of the page's running text.
constexpr double kTitleSize = 1.4;
constexpr double kFirstTitleSize = 1.2;  // at the top of a page
constexpr double kHeadingSize = 1.15;
constexpr double kNoteSize = 0.93;
// Ink of the letters, as a multiple of the page's.
constexpr double kBold = 1.2;
constexpr size_t kMostHeadingLines = 3;
constexpr size_t kMostHeadingLetters = 160;
constexpr size_t kMostCaptionLines = 6;
// In x-heights.
constexpr double kCaptionGap = 7.0;
// Of the page's height: where titles may stand, where notes begin.
constexpr double kTitleZone = 0.5;
constexpr double kNoteZone = 0.55;
// Scraps: the mean probability of their tokens is below kUnsure.
constexpr double kUnsure = 0.60;
constexpr size_t kMostScrapLines = 2;
constexpr size_t kDirtLetters = 2;
// Running heads.
constexpr double kSamePlace = 0.02;  // of the page's height
constexpr double kSameText = 0.75;   // share of the letters
constexpr int kReach = 8;            // pages
constexpr size_t kMostRunningLetters = 120;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAsciiLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// "12", "- 12 -", "xiv", "Page 3 of 10", "3/10".
bool IsPageNumber(std::string_view text) {
  std::string bare;
  for (const char c : Lower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) bare += c;
    if (static_cast<unsigned char>(c) >= 0x80 && bare.size() > 12) return false;
  }
  if (bare.empty() || bare.size() > 12) return false;
  for (const std::string_view word : {"page", "seite", "pag", "of", "von"}) {
    if (const size_t at = bare.find(word); at != std::string::npos) bare.erase(at, word.size());
  }
  if (bare.empty() || bare.size() > 8) return false;
  const bool digits = std::all_of(bare.begin(), bare.end(), IsDigit);
  const bool roman = bare.size() <= 7 && bare.find_first_not_of("ivxlc") == std::string::npos;
  return digits || roman;
}

// Bytes of the mark that begins a list item, without the space; 0: none.
size_t ListMark(std::string_view text) {
  for (const std::string_view bullet :
       {"\xE2\x80\xA2", "\xC2\xB7", "\xE2\x80\x93", "\xE2\x80\x94", "\xE2\x96\xAA", "-", "*"}) {
    if (text.size() > bullet.size() && text.starts_with(bullet) && text[bullet.size()] == ' ') {
      return bullet.size();
    }
  }
  size_t end = 0;
  while (end < text.size() && IsDigit(text[end])) ++end;
  if (end == 0 && text.size() > 2 && IsAsciiLetter(text[0]) && text[1] == ')') end = 1;
  const bool closed = end > 0 && end <= 3 && end + 1 < text.size() &&
                      (text[end] == '.' || text[end] == ')') && text[end + 1] == ' ';
  return closed ? end + 1 : 0;
}

bool BeginsCaption(std::string_view text) {
  const std::string lower = Lower(text.substr(0, std::min<size_t>(text.size(), 12)));
  constexpr std::array<std::string_view, 9> kWords = {"fig", "abb",   "table", "tab.", "plate",
                                                      "map", "chart", "photo", "tafel"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    if (!lower.starts_with(word)) return false;
    return std::any_of(lower.begin() + static_cast<std::ptrdiff_t>(word.size()), lower.end(),
                       IsDigit);
  });
}

bool BeginsNote(std::string_view text) {
  if (text.starts_with('*') || text.starts_with("\xE2\x80\xA0")) return true;
  return !text.empty() && (IsDigit(text[0]) || text.starts_with("\xC2\xB9") ||
                           text.starts_with("\xC2\xB2") || text.starts_with("\xC2\xB3"));
}

bool EndsSentence(std::string_view text) {
  while (!text.empty() && (text.back() == '"' || text.back() == ')')) text.remove_suffix(1);
  return text.ends_with('.') || text.ends_with(',') || text.ends_with(';') ||
         text.ends_with("\xE2\x80\x9D");
}

bool IsPicture(const RegionResult& region) {
  return region.kind == RegionKind::kFigure || region.kind == RegionKind::kChart;
}

double Gap(const ResultBox& above, const ResultBox& below) { return below.y0 - above.y1; }

bool StandOver(const ResultBox& a, const ResultBox& b) {
  const double overlap = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  return overlap > 0.5 * std::min(a.x1 - a.x0, b.x1 - b.x0);
}

double WeightedMedian(std::vector<std::pair<double, double>> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  double total = 0, seen = 0;
  for (const auto& [value, weight] : values) total += weight;
  for (const auto& [value, weight] : values) {
    seen += weight;
    if (seen >= total / 2) return value;
  }
  return values.back().first;
}

// Size and weight of print.
struct Print {
  double size = 0, weight = 0;
};

// Medians over lines, by their letters. A line without a size of its own has the page's.
class PrintMeter {
 public:
  explicit PrintMeter(double page_size) : page_size_(page_size) {}

  void Add(std::span<const LineResult> lines) {
    for (const LineResult& line : lines) {
      const auto letters = static_cast<double>(line.text.size());
      sizes_.emplace_back(line.x_height > 0 ? line.x_height : page_size_, letters);
      if (line.weight > 0) weights_.emplace_back(line.weight, letters);
    }
  }

  Print Medians() && {
    return {WeightedMedian(std::move(sizes_)), WeightedMedian(std::move(weights_))};
  }

 private:
  double page_size_;
  std::vector<std::pair<double, double>> sizes_, weights_;
};

Print PrintOf(std::span<const LineResult> lines, double page_size) {
  PrintMeter meter(page_size);
  meter.Add(lines);
  return std::move(meter).Medians();
}

class PageKinds {
 public:
  explicit PageKinds(PageResult& page) : page_(page) {
    PrintMeter meter(page.x_height);
    for (const RegionResult& region : page.regions) meter.Add(region.lines);
    body_ = std::move(meter).Medians();
  }

  void Assign() {
    DropScraps();
    SplitHeads();
    SplitLists();
    for (size_t i = 0; i < page_.regions.size(); ++i) {
      RegionResult& region = page_.regions[i];
      if (IsPlain(region)) region.kind = KindOf(i);
    }
    AssignTitle();
    AssignNotes();
  }

 private:
  static bool IsPlain(const RegionResult& region) {
    return region.kind == RegionKind::kText && !region.lines.empty() && !region.table;
  }

  // What was taken for a few letters, and could not be read with confidence, at a picture is part
  // of it; away from pictures a dot or a stroke is dirt.
  void DropScraps() {
    std::erase_if(page_.regions, [&](const RegionResult& region) {
      if (!IsPlain(region) || region.lines.size() > kMostScrapLines || !region.error.empty()) {
        return false;
      }
      if (region.confidence.tokens == 0 || region.confidence.mean >= kUnsure) return false;
      return CodePoints(region.text).size() <= kDirtLetters || TouchesPicture(region.box);
    });
  }

  bool TouchesPicture(const ResultBox& box) const {
    const double reach = 2 * body_.size;
    return std::any_of(page_.regions.begin(), page_.regions.end(), [&](const RegionResult& other) {
      return IsPicture(other) && box.x1 > other.box.x0 - reach && box.x0 < other.box.x1 + reach &&
             box.y1 > other.box.y0 - reach && box.y0 < other.box.y1 + reach;
    });
  }

  bool IsFirstOrLast(const RegionResult& region) const {
    bool first = true, last = true;
    for (const RegionResult& other : page_.regions) {
      if (&other == &region) continue;
      const double middle = (region.box.y0 + region.box.y1) / 2;
      first = first && middle < other.box.y1;
      last = last && middle > other.box.y0;
      if (other.box.y1 < region.box.y0) first = false;
      if (other.box.y0 > region.box.y1) last = false;
    }
    return first || last;
  }

  RegionKind KindOf(size_t index) const {
    const RegionResult& region = page_.regions[index];
    if (region.lines.size() == 1 && IsPageNumber(region.text) && IsFirstOrLast(region)) {
      return RegionKind::kPageNumber;
    }
    if (IsCaption(index)) return RegionKind::kCaption;
    if (ListMark(region.text) > 0 && IsInList(index)) return RegionKind::kListItem;
    return IsHeading(index) ? RegionKind::kHeading : RegionKind::kText;
  }

  bool IsCaption(size_t index) const {
    const RegionResult& region = page_.regions[index];
    if (region.lines.size() > kMostCaptionLines) return false;
    const bool named = BeginsCaption(region.text);
    const Print print = PrintOf(region.lines, page_.x_height);
    const bool small = print.size < kNoteSize * body_.size;
    if (!named && !small) return false;
    return std::any_of(page_.regions.begin(), page_.regions.end(), [&](const RegionResult& other) {
      const bool table = other.kind == RegionKind::kTable;
      if (!IsPicture(other) && !(table && named)) return false;
      const double gap = std::max(Gap(other.box, region.box), Gap(region.box, other.box));
      return StandOver(other.box, region.box) && gap < kCaptionGap * body_.size;
    });
  }

  // An item beside another, or one that hangs out before its own lines.
  bool IsInList(size_t index) const {
    const auto is_item = [&](size_t i) {
      return i < page_.regions.size() && page_.regions[i].kind != RegionKind::kTable &&
             ListMark(page_.regions[i].text) > 0;
    };
    if (is_item(index + 1) || (index > 0 && is_item(index - 1))) return true;
    const std::vector<LineResult>& lines = page_.regions[index].lines;
    return lines.size() > 1 && lines[1].box.x0 > lines[0].box.x0 + body_.size;
  }

  bool IsHeading(size_t index) const {
    const RegionResult& region = page_.regions[index];
    const size_t letters = CodePoints(region.text).size();
    if (region.lines.size() > kMostHeadingLines || letters > kMostHeadingLetters || letters < 2) {
      return false;
    }
    const bool has_letter = std::any_of(region.text.begin(), region.text.end(), [](char c) {
      return IsAsciiLetter(c) || static_cast<unsigned char>(c) >= 0x80;
    });
    if (!has_letter) return false;
    const Print print = PrintOf(region.lines, page_.x_height);
    if (print.size >= kHeadingSize * body_.size) return true;
    const bool bold = print.weight >= kBold * body_.weight && body_.weight > 0;
    return bold && !EndsSentence(region.text) && print.size > kNoteSize * body_.size;
  }

  // The largest heading of the upper page, if it is clearly larger than the text and the first.
  void AssignTitle() {
    RegionResult* title = nullptr;
    double largest = kTitleSize * body_.size;
    bool first = true;  // nothing but a running head stands above
    for (RegionResult& region : page_.regions) {
      if (region.kind == RegionKind::kHeader || region.kind == RegionKind::kPageNumber) continue;
      const bool is_first = std::exchange(first, false);
      if (region.kind != RegionKind::kHeading || region.lines.empty()) continue;
      const double size = PrintOf(region.lines, page_.x_height).size;
      if (is_first && size >= kFirstTitleSize * body_.size) largest = std::min(largest, size);
      if (size < largest || region.box.y0 > kTitleZone * page_.height) continue;
      if (title != nullptr && size < 1.1 * largest) continue;
      largest = size;
      title = &region;
    }
    if (title != nullptr) title->kind = RegionKind::kTitle;
  }

  // Small print at the foot of a page, from its end upwards.
  void AssignNotes() {
    for (size_t i = page_.regions.size(); i-- > 0;) {
      RegionResult& region = page_.regions[i];
      if (region.kind == RegionKind::kPageNumber || region.kind == RegionKind::kFooter) continue;
      const bool plain = IsPlain(region) || region.kind == RegionKind::kListItem;
      if (!plain || region.lines.empty() || region.box.y0 < kNoteZone * page_.height) return;
      const Print print = PrintOf(region.lines, page_.x_height);
      if (print.size >= kNoteSize * body_.size || !BeginsNote(region.text)) return;
      region.kind = RegionKind::kFootnote;
    }
  }

  // Whether a line begins left of all others of its region.
  bool HangsOut(const RegionResult& region, size_t index) const {
    for (size_t i = 0; i < region.lines.size(); ++i) {
      if (i != index && region.lines[i].box.x0 < region.lines[index].box.x0 + body_.size)
        return false;
    }
    return true;
  }

  // A region whose first line is larger or bolder than the rest becomes two: a heading close to its
  // text.
  void SplitHeads() {
    std::vector<RegionResult> regions;
    for (RegionResult& region : page_.regions) {
      if (IsPlain(region) && region.lines.size() > 1 && IsHeadLine(region)) {
        RegionResult rest = PartOf(region, 1, region.lines.size());
        regions.push_back(PartOf(region, 0, 1));
        regions.push_back(std::move(rest));
      } else {
        regions.push_back(std::move(region));
      }
    }
    page_.regions = std::move(regions);
  }

  bool IsHeadLine(const RegionResult& region) const {
    const LineResult& first = region.lines[0];
    if (EndsSentence(first.text)) return false;
    const std::span<const LineResult> lines = region.lines;
    const Print head = PrintOf(lines.first(1), page_.x_height);
    const Print rest = PrintOf(lines.subspan(1), page_.x_height);
    const bool larger = rest.size > 0 && head.size >= kHeadingSize * rest.size;
    const bool bolder = rest.weight > 0 && head.weight >= kBold * rest.weight;
    return larger || (bolder && first.box.x1 < 0.8 * region.box.x1);
  }

  // A region whose lines begin with marks becomes one region for each item.
  void SplitLists() {
    std::vector<RegionResult> regions;
    for (RegionResult& region : page_.regions) {
      std::vector<size_t> starts;
      for (size_t i = 0; i < region.lines.size(); ++i) {
        if (ListMark(region.lines[i].text) > 0) starts.push_back(i);
      }
      if (!IsPlain(region) || starts.empty() || (starts.size() == 1 && starts[0] == 0)) {
        regions.push_back(std::move(region));
        continue;
      }
      if (starts.size() == 1 && !HangsOut(region, starts[0])) {  // a dash in a paragraph
        regions.push_back(std::move(region));
        continue;
      }
      if (starts[0] != 0) starts.insert(starts.begin(), 0);
      for (size_t k = 0; k < starts.size(); ++k) {
        const size_t end = k + 1 < starts.size() ? starts[k + 1] : region.lines.size();
        regions.push_back(PartOf(region, starts[k], end));
      }
    }
    page_.regions = std::move(regions);
  }

  static RegionResult PartOf(const RegionResult& region, size_t begin, size_t end) {
    RegionResult part;
    part.kind = region.kind;
    part.syntax = region.syntax;
    part.score = region.score;
    for (size_t i = begin; i < end; ++i) AddLine(region.lines[i], part);
    FinishRegion(part);
    const ResultBox& box = part.box;
    part.quad = {{{box.x0, box.y0}, {box.x1, box.y0}, {box.x1, box.y1}, {box.x0, box.y1}}};
    return part;
  }

  PageResult& page_;
  Print body_;
};

// Letters without digits: page numbers in a running head change.
std::string WithoutNumbers(std::string_view text) {
  std::string bare;
  for (const char c : Lower(text)) {
    if (!IsDigit(c) && c != ' ') bare += c;
  }
  return bare;
}

// Share of letters two short texts have in common, in order.
double Likeness(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return 0;
  std::vector<size_t> row(b.size() + 1, 0);
  for (const char c : a) {
    size_t diagonal = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = c == b[j] ? diagonal + 1 : std::max(row[j + 1], row[j]);
      diagonal = above;
    }
  }
  return 2.0 * static_cast<double>(row.back()) / static_cast<double>(a.size() + b.size());
}

// Indices of the regions of a page that nothing stands above (or below), on one height.
std::vector<size_t> Outermost(const PageResult& page, bool top) {
  std::vector<size_t> found;
  for (size_t i = 0; i < page.regions.size(); ++i) {
    const RegionResult& region = page.regions[i];
    if (region.lines.size() != 1 || region.table) continue;
    const double middle = (region.box.y0 + region.box.y1) / 2;
    const bool outermost =
        std::all_of(page.regions.begin(), page.regions.end(), [&](const RegionResult& other) {
          return &other == &region || (top ? other.box.y1 > middle : other.box.y0 < middle);
        });
    if (outermost) found.push_back(i);
  }
  return found;
}

}  // namespace

void AssignKinds(PageResult& page) { PageKinds(page).Assign(); }

void RunningHeads::Look(const PageResult& page) {
  const int number = pages_++;
  if (page.height <= 0) return;
  for (const bool top : {true, false}) {
    for (const size_t i : Outermost(page, top)) {
      const RegionResult& region = page.regions[i];
      if (region.text.size() > kMostRunningLetters) continue;
      if (region.kind == RegionKind::kPageNumber) continue;
      const double middle = (region.box.y0 + region.box.y1) / 2;
      candidates_.push_back({number, i, top, middle / page.height, WithoutNumbers(region.text)});
    }
  }
}

// Books have one head on the left pages and another on the right ones.
bool RunningHeads::Repeats(const Candidate& head) const {
  const auto first =
      std::partition_point(candidates_.begin(), candidates_.end(),
                           [&](const Candidate& c) { return c.page < head.page - kReach; });
  for (auto other = first; other != candidates_.end() && other->page <= head.page + kReach;
       ++other) {
    if (other->page == head.page || other->top != head.top) continue;
    if (std::abs(other->place - head.place) > kSamePlace) continue;
    if (Likeness(other->text, head.text) >= kSameText) return true;
  }
  return false;
}

void RunningHeads::Mark(int index, PageResult& page) const {
  const auto first = std::partition_point(candidates_.begin(), candidates_.end(),
                                          [&](const Candidate& c) { return c.page < index; });
  for (auto head = first; head != candidates_.end() && head->page == index; ++head) {
    if (head->region >= page.regions.size() || !Repeats(*head)) continue;
    page.regions[head->region].kind = head->top ? RegionKind::kHeader : RegionKind::kFooter;
  }
}

}  // namespace platen
