// TIFF documents: every directory is a page, opened on its own when it is asked for.
#include <vector>

#include "stages/readers/multi_page.h"
#include "stages/readers/pixels.h"
#include "stages/readers/tiff_directories.h"
#include "stages/readers/tiff_page.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

class TiffReader : public DocumentReader {
 public:
  TiffReader(const std::string& path, const ReadLimits& limits)
      : path_(path),
        limits_(limits),
        directories_(ListTiffDirectories(InputFile(path, limits.patience_s), limits.max_pages)) {
    if (num_pages() == 0) ThrowUnreadable(path, "there are no pages in the TIFF");
  }

  DocumentFormat format() const override { return DocumentFormat::kTiff; }

  // A chain that breaks off counts as one more page, so that what is lost shows as its error.
  int num_pages() const override {
    return static_cast<int>(directories_.pages.size()) + (directories_.damage.empty() ? 0 : 1);
  }

  ImageSize PageSize(int index) const override {
    return ReadNumberedPage(path_, index, num_pages(),
                            [this, index] { return DirectoryOf(index).size; });
  }

  PageImage ReadPage(int index) const override {
    return ReadNumberedPage(path_, index, num_pages(), [this, index] {
      return ReadTiffPage(InputFile(path_, limits_.patience_s), DirectoryOf(index), limits_);
    });
  }

 private:
  // Of a page of legal size.
  const TiffDirectory& DirectoryOf(int index) const {
    const size_t i = static_cast<size_t>(index);
    if (i >= directories_.pages.size()) ThrowUnreadable(path_, directories_.damage);
    const TiffDirectory& directory = directories_.pages[i];
    CheckPageSize(path_, directory.size.width, directory.size.height, limits_);
    return directory;
  }

  std::string path_;
  ReadLimits limits_;
  TiffDirectories directories_;
};

}  // namespace

std::unique_ptr<DocumentReader> OpenTiff(const std::string& path, const ReadLimits& limits) {
  return std::make_unique<TiffReader>(path, limits);
}

}  // namespace platen
