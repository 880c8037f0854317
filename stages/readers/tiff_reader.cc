// TIFF documents: every directory is a page, opened on its own when it is asked for.
#include <vector>

#include "stages/readers/multi_page.h"
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
        pages_(ListTiffDirectories(InputFile(path), limits.max_pages)) {
    if (num_pages() == 0) ThrowUnreadable(path, "there are no pages in the TIFF");
  }

  DocumentFormat format() const override { return DocumentFormat::kTiff; }

  // A chain that breaks off counts as one more page, so that what is lost shows as its error.
  int num_pages() const override {
    return static_cast<int>(pages_.offsets.size()) + (pages_.damage.empty() ? 0 : 1);
  }

  PageImage ReadPage(int index) const override {
    return ReadNumberedPage(path_, index, num_pages(), [this, index] {
      const size_t i = static_cast<size_t>(index);
      if (i >= pages_.offsets.size()) ThrowUnreadable(path_, pages_.damage);
      const InputFile file(path_);
      return ReadTiffPage(file, pages_.offsets[i], limits_);
    });
  }

 private:
  std::string path_;
  ReadLimits limits_;
  TiffDirectories pages_;
};

}  // namespace

std::unique_ptr<DocumentReader> OpenTiff(const std::string& path, const ReadLimits& limits) {
  return std::make_unique<TiffReader>(path, limits);
}

}  // namespace platen
