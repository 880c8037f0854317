// Text over the pages of a PDF that is there: an update of its objects, in the form in which qpdf
// shows and takes them (JSON, version 2).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stages/formats/old_pdf_text.h"
#include "stages/formats/page_result.h"

namespace platen {

// The text comes behind what a page has, in a content of its own and with a font of its own. The
// page's own text (HasTextLayer) is not written again; where none of it was taken, what is
// invisible is left out of the page (OldPdfText). All else stays. Not thread-safe.
class PdfUpdate {
 public:
  // `description`: what `qpdf --json=2 --json-key=pages --json-key=qpdf --json-stream-data=none`
  // says of the file. Throws Error(kInput) if it is none. Anything may stand in it.
  // Without `describe` old text stays.
  explicit PdfUpdate(std::string_view description, DescribeStreams describe = {});
  ~PdfUpdate();

  int num_pages() const;
  // The page's text as it was read; nothing to do if it has none. Throws Error(kInput) if the file
  // has no such page, or says of it what cannot be.
  void Add(const PageResult& page);
  bool empty() const;  // no page has got text
  // Those that got text and show other text too.
  const std::vector<int>& keep_text() const;
  std::string Take();  // the update; once

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace platen
