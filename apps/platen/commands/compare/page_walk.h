// The pages the command line names, one after the other, for commands that read them without a
// graph.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/platen/cli/settings.h"
#include "apps/platen/cli/spooled_input.h"
#include "model/support/error.h"
#include "stages/inputs/discover.h"
#include "stages/layout/layout.h"
#include "stages/readers/document_reader.h"

namespace platen {

struct WalkedPage {
  const InputDocument& document;
  int number = 0;      // from 1
  const Image& image;  // upright
  const PageLayout& layout;
};

class PageWalk {
 public:
  // The options of `platen ocr` that name inputs and say how pages are read. Throws Error(kUsage).
  explicit PageWalk(const Settings& settings);

  using Visit = std::function<void(const WalkedPage& page)>;
  // Of a page, or with number 0 of a whole document.
  using Fail = std::function<void(const InputDocument& document, int number, const Error& error)>;

  // May be called again and gives the same pages. What is wrong with a page (Error(kInput), also
  // out of `visit`) goes to `fail`; everything else is thrown.
  void ForEach(const Visit& visit, const Fail& fail) const;

  size_t num_documents() const { return documents_.size(); }

 private:
  void VisitDocument(const InputDocument& document, const Visit& visit, const Fail& fail) const;

  std::unique_ptr<SpooledInput> standard_input_;  // as long as its document is read
  DocumentList documents_;
  std::vector<PageRange> ranges_;
  ReadLimits limits_;
  std::unique_ptr<LayoutDetector> detector_;
};

// A warning that the page, or with number 0 the document, is left out.
void WarnOfPage(const InputDocument& document, int number, const Error& error);

}  // namespace platen
