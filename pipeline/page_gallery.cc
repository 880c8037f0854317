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

}  // namespace

std::optional<GalleryPage> ShowPage(const KnownDocuments& known, const ResultStore& results,
                                    const std::string& output, int page, int longest_side,
                                    const OpenAsItWasRead& open) {
  const DocumentRecord* record = known.Find(output);
  if (record == nullptr || record->input.key.empty()) return std::nullopt;
  const std::unique_ptr<PageFile> stored = results.Open(record->input.key);
  if (!stored->Has(page)) return std::nullopt;
  PageResult result = stored->Read(page);
  const auto reader = OpenIfUnchanged(known, *record, stored->head()->settings, open);
  GalleryPage shown;
  const PageImages images = PicturesOf(reader.get(), record->source, longest_side);
  if (images.upright) shown.image = images.upright(result);
  result.rotation = 0;  // as the picture is
  result.in_file = {};
  shown.page = PlaceOnImage(result);
  return shown;
}

}  // namespace platen
