// Consecutive pages of a PDF that one process of pdftoppm renders, ahead of those who ask for them.
// Private to this folder's sources.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "stages/readers/running_child.h"

namespace platen {

// What a process that renders one page prints is the meaning of that page, its complaints included.
// A range stands for it only as long as the process says nothing: from its first complaint, or any
// other trouble, on it gives no more pages, and those are to be rendered one by one.
//
// The images go into a file without a name in the system's temporary folder, whose space is given
// back page by page. On destruction the process is ended and nothing is left. Thread-safe.
class RenderedRange {
 public:
  // Starts `renderer`: pdftoppm with its options, but for the file and the pages. Page `first_page`
  // takes max_bytes[0] bytes at most, and so on. Throws Error(kEnvironment).
  RenderedRange(std::vector<std::string> renderer, const std::string& file, int first_page,
                std::vector<size_t> max_bytes, const ChildLimits& limits_of_page);

  int first_page() const { return first_page_; }
  int last_page() const { return first_page_ + static_cast<int>(pages_.size()) - 1; }

  // True if the page is one of these and has not been asked for.
  bool Has(int page_number) const;

  // A page that it has: the image as pdftoppm writes it. Waits for it. Nothing if the page must be
  // rendered on its own.
  std::optional<std::vector<uint8_t>> Take(int page_number);

  // True if all pages have been asked for, or no more will come.
  bool IsOver() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Page {
    size_t max_bytes = 0;
    size_t begin = 0;  // in the file
    size_t bytes = 0;  // 0: not yet known
    bool asked = false;
  };

  void ReadErrors();
  void LookAtPages();
  void Fail();
  bool IsDone(size_t i) const { return !failed_ && i < num_done_; }
  std::optional<std::vector<uint8_t>> ReadPage(Page& page);

  const int first_page_;
  const std::chrono::duration<double> timeout_;  // of one page

  mutable std::mutex mutex_;  // guards what follows
  std::vector<Page> pages_;   // their number is constant
  size_t num_done_ = 0;       // pages that are complete, all those before them too
  bool failed_ = false;
  bool ended_ = false;  // the process has ended, well
  std::string said_;    // standard error so far
  bool errors_closed_ = false;
  Clock::time_point last_done_;  // when a page was last seen to be done, or one was waited for
  int num_waiting_ = 0;
  UniqueFd file_;
  Pipe errors_;
  std::optional<RunningChild> child_;  // until it has ended
};

}  // namespace platen
