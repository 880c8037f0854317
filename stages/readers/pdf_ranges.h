// Which pages of a PDF are rendered together. Private to this folder's sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stages/readers/rendered_range.h"

namespace platen {

// How many pages from one that is asked for on are worth rendering together: one at first, and
// twice as many each time the pages go on about where the last ones ended. So pages picked here and
// there are rendered one by one, and a whole document in a few processes. A pure function of the
// calls.
class ReadAhead {
 public:
  static constexpr int kMostPages = 16;

  int Next(int page_number);
  // `num_pages`: how many of them it became, 1 at least.
  void Started(int page_number, int num_pages);
  // Rendering together did not work out: begins anew with one.
  void Reset() { length_ = 0; }

 private:
  int length_ = 0;
  int end_ = 0;  // the last page of all that were started
};

// Pages of one document, rendered in ranges. Thread-safe.
class PdfRanges {
 public:
  // What renders a page, as RenderedRange takes it: pages that follow each other are rendered
  // together if it is the same for them.
  using Renderer = std::function<std::vector<std::string>(int page_number)>;

  // `file`, `limits`: as RenderedRange takes them. `most_bytes`: of a page's image; 0 if the page
  // is to be rendered on its own, and has no renderer perhaps. Both may be called by any thread.
  PdfRanges(Renderer renderer, std::string file, int num_pages, const ChildLimits& limits,
            std::function<size_t(int page_number)> most_bytes);

  // The page's image as pdftoppm writes it, if it was rendered with others and the renderer had
  // nothing to say; else it is to be rendered on its own.
  std::optional<std::vector<uint8_t>> Take(int page_number);

  // A page rendered on its own gave rise to complaints: those that follow will, too, perhaps.
  void ExpectComplaints();

 private:
  std::shared_ptr<RenderedRange> RangeWith(int page_number);
  std::vector<size_t> MostBytes(int page_number, int num_pages) const;
  std::shared_ptr<RenderedRange> Start(int page_number, const std::vector<size_t>& max_bytes);

  const Renderer renderer_;
  const std::string file_;
  const int num_pages_;
  const ChildLimits limits_;
  const std::function<size_t(int)> most_bytes_;

  std::mutex mutex_;     // guards what follows
  std::set<int> asked_;  // pages, each for the first time
  ReadAhead read_ahead_;
  std::vector<std::shared_ptr<RenderedRange>> ranges_;  // oldest first
};

}  // namespace platen
