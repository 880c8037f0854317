#include "stages/kinds/running_heads.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "stages/kinds/text_clues.h"

namespace platen {
namespace {

constexpr double kSamePlace = 0.02;  // of the page's height
constexpr double kSameText = 0.75;   // share of the letters
constexpr int kReach = 8;            // pages
constexpr size_t kMostRunningLetters = 120;

// Letters without digits: page numbers in a running head change.
std::string WithoutNumbers(std::string_view text) {
  std::string bare;
  for (const char c : LowerAscii(text)) {
    if ((c < '0' || c > '9') && c != ' ') bare += c;
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
