#include "apps/platen/commands/compare/page_walk.h"

#include "apps/platen/cli/inputs.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/commands/ocr/reading_settings.h"
#include "model/support/display_text.h"
#include "stages/layout/scale_image.h"

namespace platen {
namespace {

// Runs `work`; an Error(kInput) goes to `fail`.
template <typename Work, typename Failed>
void Guarded(const Work& work, const Failed& fail) {
  try {
    work();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    fail(e);
  }
}

}  // namespace

PageWalk::PageWalk(const Settings& settings)
    : limits_(ReadLimitsFrom(settings)), detector_(MakeClassicalDetector()) {
  ranges_ = PagesFrom(settings);
  InputSpec spec;
  spec.input_root = "/";  // nothing is written: equal names in different folders do not collide
  standard_input_ = AddNamedInputs(settings, spec);
  Discovery discovery = DiscoverDocuments(spec);
  RequireDocuments(discovery);
  documents_ = std::move(discovery.documents);
}

void PageWalk::ForEach(const Visit& visit, const Fail& fail) const {
  for (const InputDocument& document : documents_) {
    Guarded([&] { VisitDocument(document, visit, fail); },
            [&](const Error& error) { fail(document, 0, error); });
  }
}

void PageWalk::VisitDocument(const InputDocument& document, const Visit& visit,
                             const Fail& fail) const {
  if (!document.error.empty()) throw Error(ErrorKind::kInput, {}, document.error.text);
  const auto reader = DocumentReader::Open(document.path, limits_);
  for (const int number : SelectPages(ranges_, reader->num_pages())) {
    Guarded(
        [&] {
          PageImage page = reader->ReadPage(number - 1);
          MakePixelsSquare(page.image, page.dpi_x, page.dpi_y);
          const PageLayout layout = DetectUpright(*detector_, page.image);
          visit({document, number, page.image, layout});
        },
        [&](const Error& error) { fail(document, number, error); });
  }
}

void WarnOfPage(const InputDocument& document, int number, const Error& error) {
  const std::string page = number > 0 ? " page " + std::to_string(number) : "";
  Log(LogLevel::kWarning, DisplayName(document.shown_name()) + page + ": " + error.reason());
}

}  // namespace platen
