// What a program says of the pages of a document, asked about many pages at once, because it reads
// the file anew each time. Private to this folder's sources.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "model/support/error.h"

namespace platen {

// What one page's fact is does not depend on which pages were asked about before or with it: as
// soon as asking about several fails, pages are asked about one by one. Thread-safe.
template <class Fact>
class PageFacts {
 public:
  // `ask`: facts by page number from `first` to `last`, some may be missing. `pages_at_once`: of an
  // answer; `most_answers`: that are kept.
  using Ask = std::function<std::map<int, Fact>(int first, int last)>;
  PageFacts(int num_pages, int pages_at_once, size_t most_answers, Ask ask)
      : num_pages_(num_pages),
        pages_at_once_(pages_at_once),
        most_answers_(most_answers),
        ask_(std::move(ask)) {}

  // Nothing: the page has none. Throws what `ask` throws for the page alone.
  std::optional<Fact> Of(int page_number) {
    const std::lock_guard lock(mutex_);
    const int first = (page_number - 1) / pages_at_once_ * pages_at_once_ + 1;
    if (const auto known = Known(first, page_number)) return known;
    if (!ask_singly_) {
      try {
        Keep(first, ask_(first, std::min(first + pages_at_once_ - 1, num_pages_)));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kInput) throw;
        ask_singly_ = true;
      }
      if (const auto known = Known(first, page_number)) return known;
    }
    std::map<int, Fact> alone = ask_(page_number, page_number);
    const auto found = alone.find(page_number);
    if (found == alone.end()) return std::nullopt;
    const Fact fact = found->second;
    Keep(first, std::move(alone));
    return fact;
  }

 private:
  std::optional<Fact> Known(int first, int page_number) const {
    const auto answer = answers_.find(first);
    if (answer == answers_.end()) return std::nullopt;
    const auto found = answer->second.find(page_number);
    if (found == answer->second.end()) return std::nullopt;
    return found->second;
  }

  void Keep(int first, std::map<int, Fact> facts) {
    answers_[first].merge(std::move(facts));
    // Pages are asked about nearly in order.
    if (answers_.size() > most_answers_) {
      answers_.erase(answers_.begin()->first == first ? std::prev(answers_.end())
                                                      : answers_.begin());
    }
  }

  const int num_pages_;
  const int pages_at_once_;
  const size_t most_answers_;
  const Ask ask_;

  std::mutex mutex_;                            // guards what follows
  std::map<int, std::map<int, Fact>> answers_;  // by the first page asked about
  bool ask_singly_ = false;                     // a page did harm to those asked about with it
};

}  // namespace platen
