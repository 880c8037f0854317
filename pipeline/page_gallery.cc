#include "pipeline/page_gallery.h"

#include "model/support/error.h"
#include "stages/page_pictures.h"

namespace platen {
namespace {

// Null: it is not where it was read, or is another.
std::unique_ptr<DocumentReader> OpenIfUnchanged(const KnownDocuments& known,
                                                const DocumentRecord& record,
                                                const std::vector<DocumentSetting>& settings,
                                                const OpenAsItWasRead& open) {
  try {
    return OpenUnchanged(known, record, settings, open);
  } catch (const Error&) {
    return nullptr;
  }
}

struct FoundPage {
  PageResult result;
  const DocumentRecord* record = nullptr;
  std::unique_ptr<DocumentReader> reader;  // null: there is no picture
};

std::optional<FoundPage> FindPage(const KnownDocuments& known, const ResultStore& results,
                                  const std::string& output, int page,
                                  const OpenAsItWasRead& open) {
  const DocumentRecord* record = known.Find(output);
  if (record == nullptr || record->input.key.empty()) return std::nullopt;
  const std::unique_ptr<PageFile> stored = results.Open(record->input.key);
  if (!stored->Has(page)) return std::nullopt;
  return FoundPage{stored->Read(page), record,
                   OpenIfUnchanged(known, *record, stored->head()->settings, open)};
}

}  // namespace

std::optional<GalleryPage> ShowPage(const KnownDocuments& known, const ResultStore& results,
                                    const std::string& output, int page, int longest_side,
                                    const OpenAsItWasRead& open) {
  std::optional<FoundPage> found = FindPage(known, results, output, page, open);
  if (!found) return std::nullopt;
  PageResult& result = found->result;
  GalleryPage shown;
  const PageImages images = PicturesOf(found->reader.get(), found->record->source, longest_side);
  if (images.upright) shown.image = images.upright(result);
  result.rotation = 0;  // as the picture is
  result.in_file = {};
  shown.page = PlaceOnImage(result);
  return shown;
}

std::optional<UprightPage> OpenPage(const KnownDocuments& known, const ResultStore& results,
                                    const std::string& output, int page,
                                    const OpenAsItWasRead& open) {
  std::optional<FoundPage> found = FindPage(known, results, output, page, open);
  if (!found) return std::nullopt;
  UprightPage opened;
  if (found->reader) opened.image = UprightPageOf(*found->reader, found->result);
  opened.result = std::move(found->result);
  return opened;
}

}  // namespace platen
