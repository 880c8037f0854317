#include "stages/readers/pdf_ranges.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "model/support/error.h"

namespace platen {
namespace {

// Of images that wait in a temporary file, in one range.
constexpr size_t kMostBytes = size_t{192} << 20;
// Ranges of one document at a time, and of all documents of the process; each may have a process
// and 192 MiB of temporary files.
constexpr size_t kMostRanges = 4;
constexpr int kMostRangesOfAll = 8;

std::atomic<int> num_ranges_of_all = 0;

// Gives the range back to those that all documents may have when it goes.
std::shared_ptr<RenderedRange> Counted(std::unique_ptr<RenderedRange> range) {
  return {range.release(), [](RenderedRange* counted) {
            delete counted;
            --num_ranges_of_all;
          }};
}

}  // namespace

int ReadAhead::Next(int page_number) {
  // Several threads ask for pages, not quite in order.
  constexpr int kSkipped = 2;
  constexpr int kBack = kMostPages + 8;
  const bool goes_on = page_number > end_ - kBack && page_number <= end_ + kSkipped;
  length_ = goes_on ? std::clamp(2 * length_, 1, kMostPages) : 1;
  if (!goes_on) end_ = 0;
  return length_;
}

void ReadAhead::Started(int page_number, int num_pages) {
  end_ = std::max(end_, page_number + num_pages - 1);
}

PdfRanges::PdfRanges(Renderer renderer, std::string file, int num_pages, const ChildLimits& limits,
                     std::function<size_t(int)> most_bytes)
    : renderer_(std::move(renderer)),
      file_(std::move(file)),
      num_pages_(num_pages),
      limits_(limits),
      most_bytes_(std::move(most_bytes)) {}

std::optional<std::vector<uint8_t>> PdfRanges::Take(int page_number) {
  const std::shared_ptr<RenderedRange> range = RangeWith(page_number);
  if (!range) return std::nullopt;
  std::optional<std::vector<uint8_t>> image = range->Take(page_number);
  const std::lock_guard lock(mutex_);
  if (!image) read_ahead_.Reset();
  if (range->IsOver()) std::erase(ranges_, range);
  return image;
}

void PdfRanges::ExpectComplaints() {
  const std::lock_guard lock(mutex_);
  read_ahead_.Reset();
}

// One that is there, or a new one; none if the page is better rendered on its own. A page that is
// asked for again has left its range.
std::shared_ptr<RenderedRange> PdfRanges::RangeWith(int page_number) {
  const std::lock_guard lock(mutex_);
  if (!asked_.insert(page_number).second) return nullptr;
  for (const auto& range : ranges_) {
    if (range->Has(page_number)) return range;
  }
  const std::vector<size_t> max_bytes = MostBytes(page_number, read_ahead_.Next(page_number));
  read_ahead_.Started(page_number, std::max(static_cast<int>(max_bytes.size()), 1));
  return max_bytes.size() > 1 ? Start(page_number, max_bytes) : nullptr;
}

// Of up to `num_pages` pages, as far as they are fit to be rendered together and were not already.
std::vector<size_t> PdfRanges::MostBytes(int page_number, int num_pages) const {
  int end = std::min(page_number + num_pages, num_pages_ + 1);
  const auto next_asked = asked_.upper_bound(page_number);
  if (next_asked != asked_.end()) end = std::min(end, *next_asked);
  for (const auto& range : ranges_) {
    if (range->first_page() > page_number) end = std::min(end, range->first_page());
  }
  std::vector<size_t> max_bytes;
  size_t sum = 0;
  for (int number = page_number; number < end; ++number) {
    const size_t bytes = most_bytes_(number);
    if (bytes == 0 || bytes > kMostBytes - sum) break;
    if (number > page_number && renderer_(number) != renderer_(page_number)) break;
    max_bytes.push_back(bytes);
    sum += bytes;
  }
  return max_bytes;
}

std::shared_ptr<RenderedRange> PdfRanges::Start(int page_number,
                                                const std::vector<size_t>& max_bytes) {
  // Pages of the oldest that nobody has asked for will hardly be.
  if (ranges_.size() == kMostRanges) ranges_.erase(ranges_.begin());
  if (num_ranges_of_all++ >= kMostRangesOfAll) {
    --num_ranges_of_all;
    return nullptr;
  }
  try {
    ranges_.push_back(Counted(std::make_unique<RenderedRange>(renderer_(page_number), file_,
                                                              page_number, max_bytes, limits_)));
  } catch (const Error&) {  // rendered on its own, the page works or says what is wrong
    --num_ranges_of_all;
    return nullptr;
  }
  return ranges_.back();
}

}  // namespace platen
