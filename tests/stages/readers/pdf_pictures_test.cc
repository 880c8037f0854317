// Which pages are scans: what pdfimages prints, and what the reader makes of it.
#include "stages/readers/pdf_pictures.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "model/support/error.h"
#include "stages/readers/document_reader.h"
#include "tests/support/fake_programs.h"
#include "tests/support/pdf_file.h"
#include "tests/support/temp_files.h"

namespace platen {
namespace {

using ::platen::testing::FakePrograms;
using ::platen::testing::PdfOfPages;
using ::platen::testing::PdfPage;
using ::platen::testing::ScannedPage;
using ::platen::testing::TempFolder;

constexpr PagePoints kA4 = {595.28, 841.89};

double Resolution(const std::string& rows, const PagePoints& page = kA4) {
  const auto pictures = PicturesFromPdfImages(rows);
  return pictures.contains(1) ? ScanResolution(pictures.at(1), page) : 0;
}

TEST(PdfPictures, APictureThatCoversThePageIsAScan) {
  EXPECT_EQ(
      Resolution("page   num  type   width height color comp bpc  enc interp  object ID x-ppi "
                 "y-ppi size ratio\n-----\n"
                 "   1     0 image    2480  3508  gray    1   8  jpeg   no         4  0   300 "
                 "  300  240K  14%\n"),
      300);
  EXPECT_EQ(Resolution("1 0 stencil 2480 3508 - 1 1 ccitt no [inline] 300 300 240K 14%\n"), 300);
  EXPECT_EQ(Resolution("1 0 image 1240 3508 gray 1 8 jpeg no 4 0 300 300 240K 14%\n"), 0);
  // Turned on the page, and larger than it.
  EXPECT_EQ(Resolution("1 0 image 3508 2480 gray 1 8 jpeg no 4 0 300 300 240K 14%\n"), 300);
  EXPECT_EQ(Resolution("1 0 image 9999 3000 gray 1 8 jpeg no 4 0 300 300 240K 14%\n"), 300);
  // As large as the page, and of another shape.
  EXPECT_EQ(Resolution("1 0 image 8699 1000 gray 1 8 jpeg no 4 0 300 300 240K 14%\n"), 0);
}

TEST(PdfPictures, StripsOfOneResolutionCountTogether) {
  std::string strips;
  for (int i = 0; i < 35; ++i) strips += "1 0 image 1728 32 gray 1 1 ccitt no 4 0 204 98 2K 1%\n";
  EXPECT_EQ(Resolution(strips), 204);  // of a fax: 8.5 x 11.4 inches
  EXPECT_EQ(Resolution(strips.substr(0, strips.size() / 2)), 0);
  EXPECT_EQ(Resolution("1 0 image 1240 1500 gray 1 8 jpeg no 4 0 300 300 2K 1%\n"
                       "1 1 image 620 750 gray 1 8 jpeg no 5 0 150 150 2K 1%\n"),
            0);
}

TEST(PdfPictures, OfLayersTheFinestCounts) {
  EXPECT_EQ(Resolution("1 0 image 827 1169 rgb 3 8 jpeg no 4 0 100 100 2K 1%\n"
                       "1 1 smask 2480 3508 gray 1 1 jbig2 no 5 0 300 300 2K 1%\n"
                       "1 2 image 600 600 rgb 3 8 jpeg no 6 0 1200 1200 2K 1%\n"),
            300);
}

TEST(PdfPictures, LinesThatAreNoPicturesCountForNothing) {
  for (const char* row : {"", "\n\n", "1 0 image 2480 3508 gray 1 8 jpeg no 4 0 300",
                          "1 0 image 2480 3508 gray 1 8 jpeg no 4 0 nan 300 1K 1%",
                          "1 0 image 2480 3508 gray 1 8 jpeg no 4 0 0 300 1K 1%",
                          "1 0 image -2480 3508 gray 1 8 jpeg no 4 0 300 300 1K 1%",
                          "1 0 image 1e300 3508 gray 1 8 jpeg no 4 0 300 300 1K 1%",
                          "x 0 image 2480 3508 gray 1 8 jpeg no 4 0 300 300 1K 1%"}) {
    EXPECT_EQ(Resolution(row), 0) << row;
  }
  EXPECT_EQ(Resolution("1 0 image 2480 3508 gray 1 8 jpeg no 4 0 300 300 1K 1%", {0, 0}), 0);
}

// Scans of 300, 100 and 600 pixels an inch, and a page that is none.
const std::vector<PdfPage> kPages = {ScannedPage(72, 72, 300), ScannedPage(72, 36, 100),
                                     ScannedPage(72, 72, 0), ScannedPage(36, 36, 600)};
constexpr int kWidths[] = {300, 150, 200, 200};
constexpr double kDpi[] = {300, 150, 200, 400};

ReadLimits Auto() {
  ReadLimits limits;
  limits.pdf_dpi = kScanDpi;
  return limits;
}

TEST(PdfPictures, ScansAreRenderedAtTheirResolutionWithinBounds) {
  const TempFolder folder;
  const std::string path = folder.Write("a.pdf", PdfOfPages(kPages));
  const auto reader = DocumentReader::Open(path, Auto());
  for (int i = 0; i < 4; ++i) {
    const PageImage page = reader->ReadPage(i);
    EXPECT_EQ(page.image.width, kWidths[i]) << i;
    EXPECT_EQ(page.dpi_x, kDpi[i]) << i;
    EXPECT_EQ(page.dpi_y, kDpi[i]) << i;
  }
}

TEST(PdfPictures, MostPixelsBoundTheResolution) {
  const TempFolder folder;
  ReadLimits limits = Auto();
  limits.max_pixels = 250 * 250;
  const auto reader = DocumentReader::Open(folder.Write("a.pdf", PdfOfPages(kPages)), limits);
  const PageImage page = reader->ReadPage(0);
  EXPECT_EQ(page.dpi_x, 248);
  EXPECT_EQ(page.image.width, 248);
}

TEST(PdfPictures, APageIsTheSameInAnyOrderAndAlone) {
  const TempFolder folder;
  std::vector<PdfPage> pages;
  for (int i = 0; i < 70; ++i) pages.push_back(kPages[static_cast<size_t>(i * i / 3 % 4)]);
  const std::string path = folder.Write("a.pdf", PdfOfPages(pages));
  const auto in_order = DocumentReader::Open(path, Auto());
  const auto backwards = DocumentReader::Open(path, Auto());
  std::vector<PageImage> read;
  for (int i = 0; i < 70; ++i) read.push_back(in_order->ReadPage(i));
  for (int i = 69; i >= 0; --i) {
    const PageImage page =
        i % 7 == 0 ? DocumentReader::Open(path, Auto())->ReadPage(i) : backwards->ReadPage(i);
    const PageImage& expected = read[static_cast<size_t>(i)];
    EXPECT_EQ(page.dpi_x, expected.dpi_x) << i;
    EXPECT_TRUE(page.image.rgb == expected.image.rgb) << i;
  }
}

TEST(PdfPictures, AProgramThatFailsOrComplainsCostsItsPageAlone) {
  const TempFolder folder;
  const std::string path = folder.Write("a.pdf", PdfOfPages(kPages));
  for (const char* trouble : {"exit 3", "yes", "kill -9 $$"}) {
    SCOPED_TRACE(trouble);
    const FakePrograms programs;
    programs.Write("pdfimages", "case \"$*\" in *'-l 1 '*|*'-l 4 '*) " + std::string(trouble) +
                                    ";; esac; PATH=${PATH#*:} exec pdfimages \"$@\"\n");
    const auto reader = DocumentReader::Open(path, Auto());
    EXPECT_EQ(reader->ReadPage(1).dpi_x, 150);
    EXPECT_EQ(reader->ReadPage(0).dpi_x, 200);
  }
}

// What a page is read at must not depend on how fast the machine is.
TEST(PdfPictures, AProgramThatTakesTooLongFailsThePage) {
  const TempFolder folder;
  const FakePrograms programs;
  programs.Write("pdfimages", "exec sleep 1000\n");
  ReadLimits limits = Auto();
  limits.pdf_page_timeout_s = 0.2;
  const auto reader = DocumentReader::Open(folder.Write("a.pdf", PdfOfPages(kPages)), limits);
  try {
    reader->ReadPage(0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), FailureCode::kTimeout) << error.what();
  }
}

TEST(PdfPictures, ACountOfSeveralPagesWithAComplaintIsNotBelieved) {
  const TempFolder folder;
  const FakePrograms programs;
  programs.Write("pdfimages",
                 "case \"$*\" in *'-f 1 -l 4 '*) echo Syntax Error >&2; exit;; esac; "
                 "PATH=${PATH#*:} exec pdfimages \"$@\"\n");
  const auto reader = DocumentReader::Open(folder.Write("a.pdf", PdfOfPages(kPages)), Auto());
  EXPECT_EQ(reader->ReadPage(0).dpi_x, 300);
}

TEST(PdfPictures, PdfimagesIsAskedOnceForManyPages) {
  const TempFolder folder;
  const FakePrograms programs;
  const std::string log = programs.folder().path() + "/log";
  programs.Write("pdfimages", "echo x >> " + log + "; PATH=${PATH#*:} exec pdfimages \"$@\"\n");
  const auto reader = DocumentReader::Open(folder.Write("a.pdf", PdfOfPages(kPages)), Auto());
  for (int i = 0; i < 4; ++i) reader->ReadPage(i);
  std::ifstream in(log);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "x\n");
}

TEST(PdfPictures, AResolutionThatIsAskedForCounts) {
  const TempFolder folder;
  ReadLimits limits;
  limits.pdf_dpi = 72;
  const std::string path = folder.Write("a.pdf", PdfOfPages(kPages));
  EXPECT_EQ(DocumentReader::Open(path, limits)->ReadPage(0).dpi_x, 72);
}

}  // namespace
}  // namespace platen
