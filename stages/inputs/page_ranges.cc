#include <algorithm>
#include <charconv>
#include <climits>

#include "model/support/error.h"
#include "stages/inputs/discover.h"

namespace platen {
namespace {

int ParsePageNumber(const std::string& text, const std::string& whole) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) {
    throw Error(ErrorKind::kUsage, {"", "pages"},
                "\"" + whole + "\" is not a list of pages such as 1-5,9 (\"" + text + "\")");
  }
  return value;
}

PageRange ParseRange(const std::string& item, const std::string& whole) {
  const size_t dash = item.find('-');
  PageRange range;
  range.first = ParsePageNumber(item.substr(0, dash), whole);
  range.last = range.first;
  if (dash != std::string::npos) {
    const std::string last = item.substr(dash + 1);
    range.last = last.empty() ? INT_MAX : ParsePageNumber(last, whole);
  }
  if (range.last < range.first) {
    throw Error(ErrorKind::kUsage, {"", "pages"},
                "the range \"" + item + "\" ends before it begins");
  }
  return range;
}

}  // namespace

std::vector<PageRange> ParsePageRanges(const std::string& text) {
  std::vector<PageRange> ranges;
  size_t start = 0;
  while (true) {
    const size_t comma = text.find(',', start);
    ranges.push_back(ParseRange(text.substr(start, comma - start), text));
    if (comma == std::string::npos) return ranges;
    start = comma + 1;
  }
}

std::vector<int> SelectPages(const std::vector<PageRange>& ranges, int num_pages) {
  std::vector<int> pages;
  for (int page = 1; page <= num_pages; ++page) {
    const bool chosen =
        ranges.empty() || std::any_of(ranges.begin(), ranges.end(), [&](const PageRange& r) {
          return page >= r.first && page <= r.last;
        });
    if (chosen) pages.push_back(page);
  }
  return pages;
}

}  // namespace platen
