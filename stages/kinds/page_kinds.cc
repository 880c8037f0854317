#include "stages/kinds/page_kinds.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/support/utf8.h"
#include "stages/formats/list_mark.h"
#include "stages/kinds/code.h"
#include "stages/kinds/formulas.h"
#include "stages/kinds/print_size.h"
#include "stages/kinds/running_row.h"
#include "stages/kinds/split_regions.h"
#include "stages/kinds/text_clues.h"

namespace platen {
namespace {

// x-heights in those of the page's running text.
constexpr double kTitleSize = 1.4;
constexpr double kFirstTitleSize = 1.3;  // at the top of a page
constexpr double kNoteSize = 0.93;
constexpr size_t kMostHeadingLines = 3;
constexpr size_t kMostHeadingLetters = 160;
constexpr size_t kMostTitleLetters = 60;  // of a sentence in large print
constexpr double kCentredIndent = 3;      // x-heights, at both sides
constexpr size_t kMostCaptionLines = 6;
// In x-heights.
constexpr double kCaptionGap = 7.0;
// Of the page's height: where titles may stand, where notes begin.
constexpr double kTitleZone = 0.5;
constexpr double kNoteZone = 0.55;
// Scraps: the mean probability of their tokens is below kUnsure.
constexpr double kUnsure = 0.60;
constexpr double kMostlyInPicture = 0.5;  // share of a region
constexpr size_t kMostScrapLines = 2;
constexpr size_t kDirtLetters = 2;

bool IsPicture(const RegionResult& region) {
  return region.kind == RegionKind::kFigure || region.kind == RegionKind::kChart;
}

double Gap(const ResultBox& above, const ResultBox& below) { return below.y0 - above.y1; }

bool StandOver(const ResultBox& a, const ResultBox& b) {
  const double overlap = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  return overlap > 0.5 * std::min(a.x1 - a.x0, b.x1 - b.x0);
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
    AssignCode(page_);
    AssignFormulas(page_);
    SplitHeads(page_);
    SplitLists(body_, page_);
    JoinItems(body_, page_);
    for (size_t i = 0; i < page_.regions.size(); ++i) {
      RegionResult& region = page_.regions[i];
      if (IsPlainText(region)) region.kind = KindOf(i);
    }
    AssignRunningRows(body_, page_);
    AssignTitle();
    AssignNotes();
  }

 private:
  // What was taken for letters and could not be read with confidence is part of the picture in
  // which it lies; also a few letters at a picture. Away from pictures a dot or a stroke is dirt.
  void DropScraps() {
    std::erase_if(page_.regions, [&](const RegionResult& region) {
      if (IsPicture(region) || !region.error.empty() || region.lines.empty()) return false;
      if (region.confidence.tokens == 0 || region.confidence.mean >= kUnsure) return false;
      if (LiesInPicture(region.box)) return true;
      if (!IsPlainText(region) || region.lines.size() > kMostScrapLines) return false;
      return CodePoints(region.text).size() <= kDirtLetters || TouchesPicture(region.box);
    });
  }

  bool LiesInPicture(const ResultBox& box) const {
    const double area = (box.x1 - box.x0) * (box.y1 - box.y0);
    return std::any_of(page_.regions.begin(), page_.regions.end(), [&](const RegionResult& other) {
      if (!IsPicture(other)) return false;
      const double width = std::min(box.x1, other.box.x1) - std::max(box.x0, other.box.x0);
      const double height = std::min(box.y1, other.box.y1) - std::max(box.y0, other.box.y0);
      return width > 0 && height > 0 && width * height > kMostlyInPicture * area;
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
    if (FindListMark(region.text) && IsInList(index)) return RegionKind::kListItem;
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
             FindListMark(page_.regions[i].text);
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
      return std::isalpha(static_cast<unsigned char>(c)) != 0 ||
             static_cast<unsigned char>(c) >= 0x80;
    });
    if (!has_letter) return false;
    const Print print = PrintOf(region.lines, page_.x_height);
    const bool sentence = letters > kMostTitleLetters && EndsSentence(region.text);
    if (print.size >= kHeadingSize * body_.size && !sentence) return true;
    if (IsCapitals(region.text) && IsCentred(region) && region.lines.size() == 1) return true;
    return StandsOut(print, body_) && !EndsSentence(region.text) &&
           print.size > kNoteSize * body_.size;
  }

  // In the middle of the page's print, away from both edges.
  bool IsCentred(const RegionResult& region) const {
    double left = region.box.x0, right = region.box.x1;
    for (const RegionResult& other : page_.regions) {
      if (other.lines.empty()) continue;
      left = std::min(left, other.box.x0);
      right = std::max(right, other.box.x1);
    }
    const double before = region.box.x0 - left, after = right - region.box.x1;
    return std::min(before, after) > kCentredIndent * body_.size &&
           std::abs(before - after) < 0.06 * (right - left);
  }

  // The only heading of a page, in the middle of its upper part, is its title.
  RegionResult* LoneHeading() const {
    RegionResult* heading = nullptr;
    for (RegionResult& region : page_.regions) {
      if (region.kind != RegionKind::kHeading) continue;
      if (heading != nullptr) return nullptr;
      heading = &region;
    }
    if (heading == nullptr || BeginsSection(heading->text)) return nullptr;
    const bool high = heading->box.y0 < kTitleZone * page_.height;
    return high && IsCentred(*heading) ? heading : nullptr;
  }

  // The largest heading of the upper page, if it is clearly larger than the text and the first.
  void AssignTitle() {
    RegionResult* title = LoneHeading();
    double largest = kTitleSize * body_.size;
    bool first = true;  // nothing but a running head stands above
    for (RegionResult& region : page_.regions) {
      if (region.kind == RegionKind::kHeader || region.kind == RegionKind::kPageNumber) continue;
      const bool is_first = std::exchange(first, false);
      if (region.kind != RegionKind::kHeading || BeginsSection(region.text)) continue;
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
      const bool plain = IsPlainText(region) || region.kind == RegionKind::kListItem;
      if (!plain || region.lines.empty() || region.box.y0 < kNoteZone * page_.height) return;
      const Print print = PrintOf(region.lines, page_.x_height);
      if (print.size >= kNoteSize * body_.size || !BeginsNote(region.text)) return;
      region.kind = RegionKind::kFootnote;
    }
  }

  PageResult& page_;
  Print body_;
};

}  // namespace

void AssignKinds(PageResult& page) { PageKinds(page).Assign(); }

}  // namespace platen
