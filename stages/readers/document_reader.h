// From an input file to page images: 8-bit RGB, upright as the file's orientation tag says.
//
// Formats are told apart by content, never by name: PNG, JPEG, TIFF (all pages), WebP, BMP, PNM,
// JPEG 2000, GIF (the first image), and PDF through poppler's programs in child processes. Gray is
// replicated, 16-bit samples keep their high byte, palettes are expanded, alpha is dropped unless
// asked otherwise. docs/FORMATS.md lists what is read.
//
// Files are untrusted: sizes in headers are checked against ReadLimits before anything is
// allocated; a truncated or corrupt file is an Error(kInput) that names the file and the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/support/image.h"
#include "stages/readers/file_kind.h"
#include "stages/readers/left_behind.h"
#include "stages/readers/page_text.h"

namespace platen {

inline constexpr int kUsualPdfDpi = 200;
// ReadLimits::pdf_dpi: a page that is a scan is rendered at the scan's resolution, from
// kLeastScanDpi to kMostScanDpi and as far as max_pixels allows; any other page at kUsualPdfDpi.
inline constexpr int kScanDpi = 0;
inline constexpr int kLeastScanDpi = 150;
inline constexpr int kMostScanDpi = 400;

struct ReadLimits {
  int64_t max_pixels = 200'000'000;             // of one page
  int64_t max_file_bytes = int64_t{2} << 30;    // of one file that is not a PDF or TIFF
  int max_pages = 100'000;                      // of one document
  bool composite_alpha_on_white = false;        // false: alpha is dropped, colours as stored
  int pdf_dpi = kUsualPdfDpi;                   // resolution PDF pages are rendered at, or kScanDpi
  double pdf_page_timeout_s = 60;               // wall clock of one child process
  double patience_s = kUsualPatienceS;          // wall clock of one call that reads a file
  int64_t pdf_memory_bytes = int64_t{4} << 30;  // address space of one child process
  // Tried in turn on a PDF that asks for one. poppler's programs take it as an argument, which
  // others on the machine can see while they run.
  std::vector<std::string> pdf_passwords = {};
};

struct ImageSize {
  int64_t width = 0;
  int64_t height = 0;
};

struct PageImage {
  Image image;
  double dpi_x = 0;  // along the image's width as returned; 0: the file does not say
  double dpi_y = 0;
  std::string warning;  // what was wrong with a page that could be read all the same; mostly empty
};

// One open document. Holds no file handle and no pixels between calls, so many may exist at once;
// but pages of a PDF are rendered ahead, by up to eight processes for all documents together, each
// with up to 192 MiB in a temporary file without a name. All members may be called from several
// threads at once; no threads are started. Destroy it when no more pages are wanted.
class DocumentReader {
 public:
  // Throws Error(kInput) if the file cannot be read, is empty, of no known format, or so broken
  // that its pages cannot be counted; Error(kEnvironment) if PDF programs are missing.
  static std::unique_ptr<DocumentReader> Open(const std::string& path, const ReadLimits& limits);

  virtual ~DocumentReader() = default;

  virtual DocumentFormat format() const = 0;

  // That opens an encrypted PDF; empty: it opens without one.
  virtual std::string password() const { return {}; }

  // At least 1.
  virtual int num_pages() const = 0;

  // Pixels of page `index` as it will be decoded, before it is turned upright: from headers alone,
  // so in little memory, whatever the file's size. Throws as ReadPage does if the header is broken
  // or there are more than limits.max_pixels; a page with a size may still fail to be read.
  virtual ImageSize PageSize(int index) const = 0;

  // Page `index` in [0, num_pages()). Throws Error(kInput) naming the file, for multi-page
  // documents the page (counted from 1), and the reason; other pages stay readable.
  virtual PageImage ReadPage(int index) const = 0;

  // The text that the page itself has, whatever it is worth; nothing: the format has none, the page
  // has none, or it cannot be had. Throws as ReadPage does if programs are missing or the page has
  // no size.
  virtual std::optional<PageText> ReadTextLayer(int index) const {
    static_cast<void>(index);
    return std::nullopt;
  }
};

}  // namespace platen
