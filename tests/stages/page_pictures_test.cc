// Pictures of whole pages.
#include "stages/page_pictures.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <tuple>

#include "stages/encode_fax.h"
#include "stages/encode_image.h"
#include "stages/formats/pdf_image.h"
#include "stages/layout/layout.h"
#include "stages/layout/scale_image.h"
#include "stages/readers/memory_document.h"
#include "tests/support/npy.h"
#include "tests/support/pdf_file.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::ReadFile;
using testing::SourcePath;
using testing::TempFolder;

// Dark at the top left, light elsewhere; with colours or without.
Image Page(int width, int height, bool coloured) {
  Image page(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool dark = x < width / 2 && y < height / 2;
      uint8_t* pixel = page.Row(y) + static_cast<ptrdiff_t>(x) * 3;
      pixel[0] = dark ? 20 : 220;
      pixel[1] = pixel[2] = coloured && dark ? 120 : pixel[0];
    }
  }
  return page;
}

std::unique_ptr<DocumentReader> Open(const std::string& bytes) {
  return OpenBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, {});
}

Image Read(const std::string& bytes) { return Open(bytes)->ReadPage(0).image; }

PageResult ResultOf(int width, int height, int rotation) {
  PageResult result;
  result.page = 1;
  result.width = width;
  result.height = height;
  result.rotation = rotation;
  return result;
}

TEST(ToJpegTest, KeepsSizeAndColours) {
  for (const bool coloured : {false, true}) {
    const Image page = Page(65, 33, coloured);
    const std::string jpeg = ToJpeg(page, 90);
    EXPECT_EQ(ToJpeg(page, 90), jpeg);
    const Image back = Read(jpeg);
    ASSERT_EQ(back.width, 65);
    ASSERT_EQ(back.height, 33);
    for (const auto& [x, y] : {std::pair{5, 5}, {60, 5}, {60, 30}}) {
      for (int c = 0; c < 3; ++c) {
        EXPECT_NEAR(back.Row(y)[x * 3 + c], page.Row(y)[x * 3 + c], 6) << x << " " << y;
      }
    }
  }
  EXPECT_LT(ToJpeg(Page(400, 400, false), 75).size(), ToJpeg(Page(400, 400, true), 75).size());
}

TEST(ToJpegTest, ASideThatIsTooLongIsAnError) { EXPECT_ANY_THROW(ToJpeg(Image(70000, 1), 75)); }

TEST(PagePictures, AreUprightAndNotTooLarge) {
  const std::string png = ToPng(Page(2000, 1000, false));
  const auto reader = Open(png);
  const PageImages::Get pictures = PicturesOf(reader.get(), "").upright;
  const auto upright = pictures(ResultOf(2000, 1000, 0));
  ASSERT_TRUE(upright);
  EXPECT_EQ(upright->media_type, "image/jpeg");
  const Image shown = Read(upright->bytes);
  EXPECT_EQ(shown.width, kLongestSide);
  EXPECT_EQ(shown.height, 800);
  EXPECT_LT(shown.Row(10)[30], 60);
  const auto turned = pictures(ResultOf(1000, 2000, 90));  // its top left comes to the top right
  ASSERT_TRUE(turned);
  const Image tall = Read(turned->bytes);
  EXPECT_EQ(tall.width, 800);
  EXPECT_GT(tall.Row(10)[30], 180);
  EXPECT_LT(tall.Row(10)[790 * 3], 60);
}

TEST(PagePictures, OfFilesThatPdfTakesAreTheFiles) {
  const TempFolder folder;
  const std::string path = folder.Write("a.png", ToPng(Page(40, 20, true)));
  const auto reader = DocumentReader::Open(path, {});
  const auto in_file = [&](PageResult result, const std::string& from) {
    const auto image = PicturesOf(reader.get(), from).in_file(result);
    return image ? image->bytes : "none";
  };
  EXPECT_EQ(in_file(ResultOf(40, 20, 0), path), ReadFile(path));
  EXPECT_EQ(in_file(ResultOf(20, 40, 90), path), ReadFile(path)) << "the file is not turned";
  PageResult stretched = ResultOf(40, 40, 0);
  stretched.in_file = {40, 20, 200, 100};
  EXPECT_EQ(in_file(stretched, path), ReadFile(path));
  EXPECT_EQ(in_file(ResultOf(40, 40, 0), path), "none") << "it was another page";
  PageResult warned = ResultOf(40, 20, 0);
  warned.warnings = {"cut short"};
  EXPECT_EQ(Read(in_file(warned, path)).rgb, Page(40, 20, true).rgb) << "its pixels, anew";
}

// What poppler takes out of a PDF with it is the page, pixel by pixel.
TEST(PagePictures, OfBlackAndWhitePagesAreFaxCode) {
  const TempFolder folder;
  std::mt19937 rng(3);
  for (const auto& [width, height] : {std::pair{1, 1}, {8, 3}, {61, 47}, {333, 200}}) {
    Image page(width, height);
    for (size_t i = 0; i < page.rgb.size(); i += 3) {
      page.rgb[i] = page.rgb[i + 1] = page.rgb[i + 2] = rng() % 3 == 0 ? 0 : 255;
    }
    const std::string png = ToPng(page);
    const auto reader = Open(png);
    const auto picture = PicturesOf(reader.get(), "").in_file(ResultOf(width, height, 0));
    ASSERT_TRUE(picture && picture->media_type == kFaxCode);
    EXPECT_EQ(picture->bytes, *ToFaxCode(page)) << "not the same twice";
    const auto image = PdfImageOf(*picture);
    ASSERT_TRUE(image);
    folder.Write("page.pdf", testing::PdfOfImage(image->entries, image->stream, width, height));
    const std::string command =
        "pdfimages -png " + (folder / "page.pdf") + " " + (folder / "image") + " 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(Read(ReadFile(folder / "image-000.png")).rgb, page.rgb) << width << " x " << height;
  }
  EXPECT_FALSE(ToFaxCode(Page(20, 20, false)));  // greys
  EXPECT_FALSE(ToFaxCode(Page(20, 20, true)));
}

TEST(PagePictures, OfFilesWithAnOrientationAreTheirPixels) {
  for (const char* name : {"exif6.jpg", "exif6.png", "exif3.jpg", "cmyk.jpg", "alpha.webp"}) {
    const std::string path = SourcePath(std::string("tests/data/images/") + name);
    const auto reader = DocumentReader::Open(path, {});
    const Image page = reader->ReadPage(0).image;
    const auto image = PicturesOf(reader.get(), path).in_file(ResultOf(page.width, page.height, 0));
    ASSERT_TRUE(image) << name;
    EXPECT_EQ(image->media_type, "image/png") << name;
    EXPECT_EQ(Read(image->bytes).rgb, page.rgb) << name;
  }
}

// Counts how often pages are decoded.
class CountingReader : public DocumentReader {
 public:
  CountingReader(std::unique_ptr<DocumentReader> of, int& reads)
      : of_(std::move(of)), reads_(reads) {}
  DocumentFormat format() const override { return of_->format(); }
  int num_pages() const override { return of_->num_pages(); }
  ImageSize PageSize(int index) const override { return of_->PageSize(index); }
  PageImage ReadPage(int index) const override {
    ++reads_;
    return of_->ReadPage(index);
  }

 private:
  std::unique_ptr<DocumentReader> of_;
  int& reads_;
};

// As a run makes them, from the pixels it has, and as an export does, from the file.
TEST(PagePictures, ThatWereKeptAreThoseThatWouldBeMade) {
  const TempFolder folder;
  const Folder temporary = Folder::Open(folder.path(), Folder::Missing::kFail);
  struct Case {
    const char* name;
    int rotation;
    bool is_oblong;
    int most_reads;  // with the pixels at hand
  };
  const auto path_of = [](const char* name) {
    return SourcePath(std::string("tests/data/images/") + name);
  };
  for (const Case& c : {Case{"rgb8.png", 0, false, 0},
                        {"rgb8.png", 90, false, 0},
                        {"exif6.jpg", 0, false, 0},
                        {"exif6.jpg", 180, false, 1},
                        {"cmyk.jpg", 270, false, 1},
                        {"bits1.g3.tif", 0, true, 1},
                        {"three_pages.tif", 0, false, 0},
                        {"alpha.webp", 90, false, 1}}) {
    SCOPED_TRACE(std::string(c.name) + " " + std::to_string(c.rotation));
    int reads = 0;
    const std::string path = path_of(c.name);
    const CountingReader reader(DocumentReader::Open(path, {}), reads);
    PageImage read = reader.ReadPage(0);
    const FilePage in_file = {read.image.width, read.image.height, read.dpi_x, read.dpi_y};
    MakePixelsSquare(read.image, read.dpi_x, read.dpi_y);
    const Image upright = RotatePage(read.image, c.rotation);
    PageResult result = ResultOf(upright.width, upright.height, c.rotation);
    if (c.is_oblong) result.in_file = in_file;
    const PageImages made = PicturesOf(&reader, path);
    for (const bool with_pixels : {true, false}) {
      KeptPictures kept({"txt", "html", "pdf"}, temporary);
      reads = 0;
      KeepPictures(reader, path, result, with_pixels ? &upright : nullptr, kept);
      if (with_pixels) {
        EXPECT_EQ(reads, c.most_reads);
      }
      const PageImages given = PicturesOf(&reader, path, kLongestSide, &kept);
      reads = 0;
      const auto shown = given.upright(result), whole = given.in_file(result);
      EXPECT_EQ(reads, 0) << "decoded once more";
      ASSERT_TRUE(shown && whole);
      EXPECT_TRUE(shown->bytes == made.upright(result)->bytes);
      EXPECT_TRUE(whole->bytes == made.in_file(result)->bytes);
      EXPECT_EQ(whole->media_type, made.in_file(result)->media_type);
      EXPECT_EQ(whole->width, made.in_file(result)->width);
    }
  }
  EXPECT_TRUE(temporary.Names().empty());
}

TEST(PagePictures, AreKeptForTheFormatsThatShowThem) {
  const TempFolder folder;
  const Folder temporary = Folder::Open(folder.path(), Folder::Missing::kFail);
  const std::string png = ToPng(Page(40, 20, false));
  const auto reader = Open(png);
  for (const auto& [formats, upright, in_file] :
       {std::tuple{std::vector<std::string>{"txt", "hocr"}, false, false},
        {std::vector<std::string>{"html"}, true, false},
        {std::vector<std::string>{"pdf", "md"}, false, true}}) {
    KeptPictures kept(formats, temporary);
    KeepPictures(*reader, "", ResultOf(40, 20, 0), nullptr, kept);
    EXPECT_EQ(kept.Find(1, PageView::kUpright).has_value(), upright);
    EXPECT_EQ(kept.Find(1, PageView::kInFile).has_value(), in_file);
    EXPECT_FALSE(kept.Find(2, PageView::kUpright));
    KeepPictures(*reader, "", ResultOf(41, 20, 0), nullptr, kept);  // it was another page
    EXPECT_FALSE(KeptPictures(formats, temporary).Find(1, PageView::kUpright));
  }
}

TEST(PagePictures, ThatCannotBeHadAreNone) {
  EXPECT_FALSE(PicturesOf(nullptr, "").upright);
  const std::string png = ToPng(Page(40, 20, false));
  const auto reader = Open(png);
  const PageImages::Get pictures = PicturesOf(reader.get(), "").upright;
  EXPECT_TRUE(pictures(ResultOf(40, 20, 0)));
  EXPECT_FALSE(pictures(ResultOf(41, 20, 0))) << "it was another page";
  PageResult beyond = ResultOf(40, 20, 0);
  beyond.page = 2;
  EXPECT_FALSE(pictures(beyond));
  beyond.page = 0;
  EXPECT_FALSE(pictures(beyond));
  const std::string cut = png.substr(0, png.size() - 40);
  const auto broken = Open(cut);
  EXPECT_FALSE(PicturesOf(broken.get(), "").upright(ResultOf(40, 20, 0)));
}

}  // namespace
}  // namespace platen
