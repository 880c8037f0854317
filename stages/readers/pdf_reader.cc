// PDF through poppler's pdfinfo, pdfimages, pdftotext and pdftoppm in child processes: a crash, a
// hang or a leak in a renderer of untrusted files stays there. What pdftoppm says of one page alone
// is that page; pages that follow each other are rendered together as long as nothing is said
// (pdf_ranges.h).
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "model/support/error.h"
#include "stages/readers/decoders.h"
#include "stages/readers/multi_page.h"
#include "stages/readers/page_facts.h"
#include "stages/readers/pdf_pictures.h"
#include "stages/readers/pdf_ranges.h"
#include "stages/readers/pixels.h"
#include "stages/readers/poppler.h"
#include "stages/readers/poppler_output.h"
#include "stages/readers/poppler_words.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr size_t kMaxInfoBytes = 1 << 20;
constexpr const char* kNotRendered = "cannot be rendered";
// Of answers about pages, which are short: all that a document of 100,000 pages has.
constexpr int kPagesAtOnce = 64;
constexpr size_t kAllAnswers = 100'000 / kPagesAtOnce + 1;

int PagesOf(const Poppler& poppler) {
  const double num_pages = PagesFromPdfInfo(poppler.info());
  if (!(num_pages >= 1)) ThrowUnreadable(poppler.path(), "there are no pages in the PDF");
  if (num_pages > poppler.limits().max_pages) {
    ThrowUnreadable(poppler.path(),
                    "has more than " + std::to_string(poppler.limits().max_pages) + " pages",
                    FailureCode::kTooLarge);
  }
  return static_cast<int>(num_pages);
}

// The resolution of a scan at which it is rendered: its own, as far as the page then has no more
// pixels than it may.
double Bounded(double resolution, const PagePoints& size, int64_t max_pixels) {
  const double area = size.width * size.height / (kPointsPerInch * kPointsPerInch);
  // A side's last pixel may be begun only.
  const double fits = std::floor(std::sqrt(0.99 * static_cast<double>(max_pixels) / area));
  return std::clamp(std::min(resolution, fits), double{kLeastScanDpi}, double{kMostScanDpi});
}

// Of words, which are many: a page of dense print has 300 kB, and few answers are kept.
constexpr size_t kMaxWordBytes = 16 << 20;
constexpr int kPagesOfWordsAtOnce = 16;
constexpr size_t kAnswersOfWords = 2;
using Words = std::vector<LayerWord>;

// Whether the page asked about has none of what was asked for, because poppler cannot say. Not for
// want of time: what is read of a page does not depend on a clock.
bool IsNoAnswer(const Error& error, bool one_page) {
  return error.kind() == ErrorKind::kInput && one_page && error.code() != FailureCode::kTimeout;
}

class PdfReader : public DocumentReader {
 public:
  PdfReader(const std::string& path, const ReadLimits& limits)
      : poppler_(path, limits),
        num_pages_(PagesOf(poppler_)),
        sizes_(num_pages_, kPagesAtOnce, kAllAnswers,
               [this](int first, int last) { return AskForSizes(first, last); }),
        scans_(num_pages_, kPagesAtOnce, kAllAnswers,
               [this](int first, int last) { return AskForScans(first, last); }),
        words_(num_pages_, kPagesOfWordsAtOnce, kAnswersOfWords,
               [this](int first, int last) { return AskForWords(first, last); }),
        ranges_([this](int page_number) { return Renderer(page_number); }, SafeArgument(path),
                num_pages_, LimitsOfChild(limits, 0),
                [this](int page_number) { return MostBytesOrNone(page_number); }) {}

  DocumentFormat format() const override { return DocumentFormat::kPdf; }
  int num_pages() const override { return num_pages_; }
  std::string password() const override { return poppler_.password(); }

  ImageSize PageSize(int index) const override {
    return ReadNumberedPage(poppler_.path(), index, num_pages_,
                            [this, index] { return SizeOf(index + 1); });
  }

  PageImage ReadPage(int index) const override {
    return ReadNumberedPage(poppler_.path(), index, num_pages_,
                            [this, index] { return Render(index + 1); });
  }

  std::optional<PageText> ReadTextLayer(int index) const override {
    return ReadNumberedPage(poppler_.path(), index, num_pages_,
                            [this, index] { return LayerOf(index + 1); });
  }

 private:
  PageImage Render(int page_number) const;
  PageImage RenderAlone(int page_number) const;
  PageImage DecodeRendered(int page_number, const std::vector<uint8_t>& ppm) const;
  std::vector<std::string> Renderer(int page_number) const;
  size_t MostBytes(int page_number) const;
  size_t MostBytesOrNone(int page_number) const;
  PagePoints PointsOf(int page_number) const;
  ImageSize SizeOf(int page_number) const;
  double ScanOf(int page_number) const;
  double DpiOf(int page_number) const;
  std::optional<PageText> LayerOf(int page_number) const;
  std::map<int, PagePoints> AskForSizes(int first_page, int last_page) const;
  std::map<int, double> AskForScans(int first_page, int last_page) const;
  std::map<int, Words> AskForWords(int first_page, int last_page) const;

  const Poppler poppler_;
  const int num_pages_;
  mutable PageFacts<PagePoints> sizes_;
  mutable PageFacts<double> scans_;  // resolutions of their pictures; 0: the page is no scan
  mutable PageFacts<Words> words_;   // boxes in points
  mutable PdfRanges ranges_;         // last: it goes first, and uses the others
};

std::map<int, PagePoints> PdfReader::AskForSizes(int first_page, int last_page) const {
  const ChildResult info = poppler_.Run(
      poppler_.Program("pdfinfo",
                       {"-f", std::to_string(first_page), "-l", std::to_string(last_page)}),
      kUnreadablePdf, kMaxInfoBytes);
  return PageSizesFromPdfInfo(OutputText(info), first_page, last_page);
}

// A page that cannot be looked at is no scan.
std::map<int, double> PdfReader::AskForScans(int first_page, int last_page) const {
  std::map<int, double> scans;
  for (int page = first_page; page <= last_page; ++page) scans[page] = 0;
  try {
    const ChildResult list =
        poppler_.Ask("pdfimages", {"-list"}, first_page, last_page, kMaxInfoBytes);
    for (const auto& [page, pictures] : PicturesFromPdfImages(OutputText(list))) {
      if (scans.contains(page)) scans[page] = ScanResolution(pictures, PointsOf(page));
    }
  } catch (const Error& error) {
    if (!IsNoAnswer(error, first_page == last_page)) throw;
  }
  return scans;
}

// A page whose text cannot be had has none.
std::map<int, Words> PdfReader::AskForWords(int first_page, int last_page) const {
  std::map<int, Words> words;
  try {
    const ChildResult text = poppler_.Ask("pdftotext", {"-bbox-layout", "-cropbox"}, first_page,
                                          last_page, kMaxWordBytes);
    words = WordsFromPdfToText(OutputText(text), first_page);
    if (std::ssize(words) != last_page - first_page + 1) {
      ThrowUnreadable(poppler_.path(), "pdftotext gave the text of other pages");
    }
  } catch (const Error& error) {
    if (!IsNoAnswer(error, first_page == last_page)) throw;
    words = {{first_page, {}}};
  }
  return words;
}

std::optional<PageText> PdfReader::LayerOf(int page_number) const {
  PageText layer;
  layer.words = words_.Of(page_number).value_or(Words());
  if (layer.words.empty()) return std::nullopt;
  layer.over_picture = ScanOf(page_number) > 0;
  const double scale = DpiOf(page_number) / kPointsPerInch;
  for (LayerWord& word : layer.words) {
    word.x0 *= scale, word.x1 *= scale;
    word.y0 *= scale, word.y1 *= scale;
  }
  return layer;
}

PagePoints PdfReader::PointsOf(int page_number) const {
  const auto size = sizes_.Of(page_number);
  if (!size) ThrowUnreadable(poppler_.path(), "the PDF does not say its size");
  return *size;
}

double PdfReader::ScanOf(int page_number) const { return scans_.Of(page_number).value_or(0); }

double PdfReader::DpiOf(int page_number) const {
  const ReadLimits& limits = poppler_.limits();
  if (limits.pdf_dpi != kScanDpi) return limits.pdf_dpi;
  const double resolution = ScanOf(page_number);
  return resolution > 0 ? Bounded(resolution, PointsOf(page_number), limits.max_pixels)
                        : kUsualPdfDpi;
}

// Size of the page's crop box as pdftoppm will render it, rounded up, before any rotation.
ImageSize PdfReader::SizeOf(int page_number) const {
  const ImageSize size = PixelsOf(PointsOf(page_number), DpiOf(page_number));
  CheckPageSize(poppler_.path(), size.width, size.height, poppler_.limits());
  return size;
}

std::vector<std::string> PdfReader::Renderer(int page_number) const {
  const auto dpi = static_cast<int>(DpiOf(page_number));
  return poppler_.Program("pdftoppm", {"-r", std::to_string(dpi), "-cropbox"});
}

// Of a PPM stream: a short header and three bytes per pixel. A row and a column of slack for
// rounding that differs from ours.
size_t PdfReader::MostBytes(int page_number) const {
  const ImageSize size = SizeOf(page_number);
  return static_cast<size_t>((size.width + 1) * (size.height + 1)) * 3 + 64;
}

size_t PdfReader::MostBytesOrNone(int page_number) const {
  try {
    return MostBytes(page_number);
  } catch (const Error&) {
    return 0;
  }
}

PageImage PdfReader::Render(int page_number) const {
  SizeOf(page_number);  // one that is fit to be rendered
  if (const auto ppm = ranges_.Take(page_number)) return DecodeRendered(page_number, *ppm);
  PageImage page = RenderAlone(page_number);
  if (!page.warning.empty()) ranges_.ExpectComplaints();
  return page;
}

PageImage PdfReader::RenderAlone(int page_number) const {
  const std::string number = std::to_string(page_number);
  std::vector<std::string> program = Renderer(page_number);
  program.insert(program.end(), {"-f", number, "-l", number, "-singlefile"});
  const ChildResult result = poppler_.Run(program, kNotRendered, MostBytes(page_number));
  if (!OutputText(result).starts_with("P6")) {
    const std::string line = PopplerComplaint(result.errors);
    ThrowUnreadable(poppler_.path(),
                    std::string(kNotRendered) + (line.empty() ? "" : " (poppler: " + line + ")"));
  }
  PageImage page = DecodeRendered(page_number, result.output);
  page.warning = FirstLine(result.errors);
  return page;
}

// What is wrong with the image is not the file's fault.
PageImage PdfReader::DecodeRendered(int page_number, const std::vector<uint8_t>& ppm) const {
  try {
    PageImage page = DecodePnm({poppler_.path(), ppm}, poppler_.limits());
    page.dpi_x = page.dpi_y = DpiOf(page_number);
    return page;
  } catch (const Error& error) {
    ThrowUnreadable(poppler_.path(),
                    std::string(kNotRendered) + " (pdftoppm's image: " + error.reason() + ")");
  }
}

}  // namespace

std::unique_ptr<DocumentReader> OpenPdf(const std::string& path, const ReadLimits& limits) {
  return std::make_unique<PdfReader>(path, limits);
}

}  // namespace platen
