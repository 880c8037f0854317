// Files that are broken, cut short, oversized or not images: an Error that names the file and the
// reason, never a crash, a hang, an unbounded allocation, or made-up pixels.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "model/support/error.h"
#include "model/support/grouped.h"
#include "stages/readers/document_reader.h"
#include "stages/readers/unreadable.h"
#include "tests/support/images.h"
#include "tests/support/temp_files.h"

namespace platen {
namespace {

using ::platen::testing::Bytes;
using ::platen::testing::ReadBytes;
using ::platen::testing::SameImage;
using ::platen::testing::SourcePath;
using ::platen::testing::TempFolder;

std::vector<std::string> SampleFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/data/images"))) {
    const std::string extension = entry.path().extension();
    if (extension == ".png" || extension == ".jpg" || extension == ".tif" || extension == ".webp" ||
        extension == ".bmp" || extension == ".jp2" || extension == ".j2k" || extension == ".jpx" ||
        extension == ".gif") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// What reading all pages of a file gave: images in order, nothing for pages with an error.
struct Outcome {
  std::vector<std::optional<Image>> pages;  // empty: the document could not be opened
  std::string warning;                      // the last
  std::string error;                        // the first
};

Outcome ReadAll(const std::string& path, const ReadLimits& limits = {}) {
  Outcome outcome;
  const auto note = [&](const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << error.what();
    EXPECT_FALSE(error.reason().empty());
    if (outcome.error.empty()) outcome.error = error.what();
  };
  try {
    const auto reader = DocumentReader::Open(path, limits);
    for (int i = 0; i < reader->num_pages(); ++i) {
      outcome.pages.emplace_back();
      try {
        PageImage page = reader->ReadPage(i);
        outcome.pages.back() = std::move(page.image);
        outcome.warning = page.warning;
      } catch (const Error& error) {
        note(error);
      }
    }
  } catch (const Error& error) {
    note(error);
  }
  return outcome;
}

// The error of opening a file or reading its first page.
std::string ErrorOf(const std::string& path, const ReadLimits& limits = {}) {
  return ReadAll(path, limits).error;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(BadFiles, FilesThatAreNotThereOrNotFilesAreNamed) {
  const TempFolder folder;
  EXPECT_TRUE(Contains(ErrorOf(folder.path() + "/missing.png"), "missing.png: cannot open"));
  EXPECT_TRUE(Contains(ErrorOf(folder.path()), "is a folder"));
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(Contains(ErrorOf(pipe), "is not a regular file"));  // and does not wait for a writer
}

TEST(BadFiles, EmptyAndUnknownFilesSaySo) {
  const TempFolder folder;
  EXPECT_TRUE(Contains(ErrorOf(folder.Write("zero.jpg", "")), "the file is empty"));
  EXPECT_TRUE(Contains(ErrorOf(folder.Write("text.png", "hello, world")), "named .png, but"));
  EXPECT_TRUE(Contains(ErrorOf(folder.Write("x", "FORM")), "not an image platen can read"));
  EXPECT_TRUE(Contains(ErrorOf(folder.Write("one", "P")), "not an image platen can read"));
}

// Overwrites bytes of a sample.
Bytes Patched(const std::string& sample, size_t at, std::initializer_list<uint8_t> bytes) {
  Bytes file = ReadBytes(SourcePath("tests/data/images/" + sample));
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<ptrdiff_t>(at));
  return file;
}

// Position of the value of a tag in a little-endian TIFF.
size_t TagValueAt(const Bytes& tiff, uint16_t tag) {
  size_t at = tiff[4] | tiff[5] << 8 | tiff[6] << 16;
  const size_t count = tiff[at] | tiff[at + 1] << 8;
  for (at += 2; (tiff[at] | tiff[at + 1] << 8) != tag; at += 12) {
    if (at > count * 12 + tiff.size()) throw std::runtime_error("no such tag");
  }
  return at + 8;
}

TEST(BadFiles, DecompressionBombsAreRefusedBeforeAnythingIsAllocated) {
  const TempFolder folder;
  const auto expect_refused = [&](const char* name, const Bytes& bytes, const char* size) {
    const std::string error = ErrorOf(folder.Write(name, bytes));
    EXPECT_TRUE(Contains(error, size)) << error;
    EXPECT_TRUE(Contains(error, "200000000 pixels, --max-pixels")) << error;
  };
  // PNG checks its header against a checksum: 100000 x 100000.
  Bytes png = Patched("rgb8.png", 16, {0, 1, 0x86, 0xA0, 0, 1, 0x86, 0xA0});
  const Bytes kCrc = {0x27, 0x30, 0x9C, 0x9F};
  std::copy(kCrc.begin(), kCrc.end(), png.begin() + 29);
  expect_refused("a.png", png, "100000x100000");
  Bytes jpeg = ReadBytes(SourcePath("tests/data/images/ycc444.jpg"));
  const Bytes kFrame = {0xFF, 0xC0};
  const auto frame = std::search(jpeg.begin(), jpeg.end(), kFrame.begin(), kFrame.end());
  std::fill_n(frame + 5, 4, uint8_t{0xF0});
  expect_refused("a.jpg", jpeg, "61680x61680");
  expect_refused("a.bmp", Patched("bits24.bmp", 18, {0, 0, 1, 0, 0, 0, 1, 0}), "65536x65536");
  expect_refused("a.bmp", Patched("bits24.bmp", 18, {255, 255, 255, 127, 0, 0, 0, 128}),
                 "2147483647x2147483648");
  Bytes tiff = ReadBytes(SourcePath("tests/data/images/rgb8.tif"));
  tiff[TagValueAt(tiff, 256) + 2] = 1;
  tiff[TagValueAt(tiff, 257) + 2] = 1;
  expect_refused("a.tif", tiff, "65573x65565");
  expect_refused("a.j2k", Patched("rgb.j2k", 8, {1, 0, 0, 0, 1, 0, 0, 0}), "16777216x16777216");
  const Bytes gif = ReadBytes(SourcePath("tests/data/images/palette8.gif"));
  const auto separator = std::search_n(gif.begin() + 13 + 3 * 256, gif.end(), 1, uint8_t{','});
  const auto size_at = static_cast<size_t>(separator - gif.begin()) + 5;
  expect_refused("a.gif", Patched("palette8.gif", size_at, {255, 255, 255, 255}), "65535x65535");
  const std::string pnm = "P6 99999999999 99999999999 255\n";
  expect_refused("a.ppm", {pnm.begin(), pnm.end()}, "2147483647x2147483647");
}

TEST(BadFiles, TheLimitOnPixelsIsExact) {
  ReadLimits limits;
  limits.max_pixels = 37 * 29;
  const std::string path = SourcePath("tests/data/images/rgb8.png");
  EXPECT_EQ(ErrorOf(path, limits), "");
  limits.max_pixels -= 1;
  EXPECT_TRUE(Contains(ErrorOf(path, limits), "37x29 pixels; the limit is 1072 pixels"));
}

TEST(BadFiles, FilesLargerThanTheLimitAreNotRead) {
  ReadLimits limits;
  limits.max_file_bytes = 100;
  EXPECT_TRUE(
      Contains(ErrorOf(SourcePath("tests/data/images/rgb8.png"), limits), "at most 100 are read"));
}

TEST(BadFiles, ATiffWithTooManyPagesIsRefused) {
  ReadLimits limits;
  limits.max_pages = 2;
  EXPECT_TRUE(Contains(ErrorOf(SourcePath("tests/data/images/three_pages.tif"), limits),
                       "more than 2 pages"));
}

// The reason stands alone in outputs, without the file's name.
TEST(BadFiles, FilesCutShortSayWhereTheyEnd) {
  const TempFolder folder;
  const std::pair<const char*, const char*> kSamples[] = {
      {"rgb8.png", "PNG"},          {"rgb8.interlaced.png", "PNG"}, {"gray.jpg", "JPEG"},
      {"progressive.jpg", "JPEG"},  {"cmyk.jpg", "JPEG"},           {"restarts.jpg", "JPEG"},
      {"rgb8.tif", "TIFF"},         {"rgb8.lzw.tif", "TIFF"},       {"rgb8.tiles.tif", "TIFF"},
      {"rgb8.deflate.tif", "TIFF"}, {"jpeg.rgb.tif", "TIFF"},       {"bits1.g4.tif", "TIFF"},
      {"cmyk.tif", "TIFF"},         {"lossy.webp", "WebP"},         {"lossless.webp", "WebP"},
      {"alpha.webp", "WebP"},       {"bits24.bmp", "BMP"},          {"bits8.bmp", "BMP"},
      {"rgb.jp2", "JPEG 2000"},     {"rgb.tiles.jp2", "JPEG 2000"}, {"rgb.j2k", "JPEG 2000"},
      {"cmyk.jp2", "JPEG 2000"},    {"palette8.gif", "GIF"},        {"interlaced.gif", "GIF"}};
  for (const auto& [sample, format] : kSamples) {
    const Bytes whole = ReadBytes(SourcePath(std::string("tests/data/images/") + sample));
    for (const int percent : {20, 60, 80}) {
      const size_t size = whole.size() * static_cast<size_t>(percent) / 100;
      const std::string path = folder.Write("cut", std::span(whole).first(size));
      EXPECT_EQ(ErrorOf(path), path + ": cut off at byte " + Grouped(size) + " (" + format + ")")
          << sample;
    }
  }
}

TEST(BadFiles, DamageSaysWhereItIs) {
  const TempFolder folder;
  Bytes png = ReadBytes(SourcePath("tests/data/images/rgb8.png"));
  png[20] ^= 1;  // inside the header, which has a checksum
  const std::string path = folder.Write("a.png", png);
  EXPECT_EQ(ErrorOf(path), path + ": damaged at byte 33 (PNG: IHDR: CRC error)");
}

// A file cut short is an error, or lacks no pixel (what was cut was not needed for them).
TEST(BadFiles, EveryPrefixOfEverySampleIsAnErrorOrHasEveryPixel) {
  const TempFolder folder;
  int num_errors = 0;
  for (const std::string& file : SampleFiles()) {
    SCOPED_TRACE(file);
    const Bytes whole = ReadBytes(file);
    const Outcome expected = ReadAll(file);
    const size_t step = std::max<size_t>(1, whole.size() / 97);
    for (size_t size = 0; size < whole.size(); size += size < 64 ? 1 : step) {
      const Outcome outcome = ReadAll(folder.Write("cut", std::span(whole).first(size)));
      if (!outcome.error.empty()) ++num_errors;
      for (size_t i = 0; i < outcome.pages.size(); ++i) {
        if (!outcome.pages[i].has_value()) continue;
        // Of a PNG the orientation may come after the pixels; a warning tells that the end is lost.
        if (Contains(outcome.warning, "damaged after the pixels")) continue;
        ASSERT_LT(i, expected.pages.size());
        EXPECT_TRUE(SameImage(*outcome.pages[i], *expected.pages[i])) << "of " << size << " bytes";
      }
      EXPECT_TRUE(!outcome.error.empty() || outcome.pages.size() == expected.pages.size());
    }
  }
  EXPECT_GT(num_errors, 5000);
}

// Seeded byte flips: any outcome but a crash, a hang or a foreign exception.
TEST(BadFiles, FlippedBytesNeverCrash) {
  const TempFolder folder;
  ReadLimits limits;
  limits.max_pixels = 1 << 20;  // flips in headers must not make the test slow
  std::mt19937 random(20240607);
  int num_errors = 0;
  for (const std::string& file : SampleFiles()) {
    SCOPED_TRACE(file);
    const Bytes whole = ReadBytes(file);
    for (int round = 0; round < 40; ++round) {
      Bytes damaged = whole;
      const int num_flips = 1 + static_cast<int>(random() % 4);
      for (int i = 0; i < num_flips; ++i) {
        // Half of the flips hit the header.
        const size_t range = random() % 2 == 0 ? std::min<size_t>(64, whole.size()) : whole.size();
        damaged[random() % range] = static_cast<uint8_t>(random());
      }
      // Damage may turn a file into what looks like a PDF only if it says so.
      if (!ReadAll(folder.Write("flipped", damaged), limits).error.empty()) ++num_errors;
    }
  }
  EXPECT_GT(num_errors, 500);
}

TEST(BadFiles, ADamagedPageOfATiffFailsAlone) {
  const TempFolder folder;
  const std::string whole = SourcePath("tests/data/images/three_pages.tif");
  Bytes bytes = ReadBytes(whole);
  // Follow the chain to the second directory and make its page impossible: no bits per sample.
  const auto u32 = [&](size_t at) {
    return size_t{bytes[at]} | size_t{bytes[at + 1]} << 8 | size_t{bytes[at + 2]} << 16;
  };
  const size_t first = u32(4);
  const size_t second = u32(first + 2 + 12 * (bytes[first] | bytes[first + 1] << 8));
  for (size_t i = 0; i < bytes[second]; ++i) {
    const size_t entry = second + 2 + 12 * i;
    if ((bytes[entry] | bytes[entry + 1] << 8) == 259) bytes[entry + 8] = 77;  // compression
  }
  const Outcome outcome = ReadAll(folder.Write("three.tif", bytes));
  const Outcome expected = ReadAll(whole);
  ASSERT_EQ(outcome.pages.size(), 3U);
  EXPECT_TRUE(Contains(outcome.error, "three.tif: page 2: TIFF: ")) << outcome.error;
  EXPECT_FALSE(outcome.pages[1].has_value());
  EXPECT_TRUE(SameImage(outcome.pages[0].value(), *expected.pages[0]));
  EXPECT_TRUE(SameImage(outcome.pages[2].value(), *expected.pages[2]));
}

TEST(BadFiles, AChainOfTiffPagesThatBreaksOffIsAnErrorOfOneMorePage) {
  const TempFolder folder;
  Bytes bytes = ReadBytes(SourcePath("tests/data/images/rgb8.tif"));
  const size_t first = bytes[4] | bytes[5] << 8;
  const size_t next = first + 2 + 12 * bytes[first];
  const auto with_next = [&](size_t offset) {
    for (size_t i = 0; i < 4; ++i) bytes[next + i] = static_cast<uint8_t>(offset >> (8 * i));
    return ReadAll(folder.Write("a.tif", bytes));
  };
  const Outcome beyond = with_next(0xFFFFFF00);
  ASSERT_EQ(beyond.pages.size(), 2U);
  EXPECT_TRUE(beyond.pages[0].has_value());
  EXPECT_TRUE(Contains(beyond.error, "page 2: cut off at byte ")) << beyond.error;
  const Outcome circle = with_next(first);
  ASSERT_EQ(circle.pages.size(), 2U);
  EXPECT_TRUE(circle.pages[0].has_value());
  EXPECT_TRUE(Contains(circle.error, "runs in a circle")) << circle.error;
}

TEST(BadFiles, KindsThatAreNotReadSayWhatTheyAre) {
  const TempFolder folder;
  EXPECT_TRUE(Contains(ErrorOf(SourcePath("tests/data/images/animation.webp")), "animations"));
  Bytes tiff = ReadBytes(SourcePath("tests/data/images/gray4.tif"));
  tiff[TagValueAt(tiff, 258)] = 3;
  EXPECT_TRUE(Contains(ErrorOf(folder.Write("a.tif", tiff)), "3 bits per sample are not read"));
}

TEST(BadFiles, Jpeg2000OfOtherKindsSaysWhatItIs) {
  const std::pair<const char*, const char*> kSamples[] = {
      {"lab.jp2", "colour space 14 (gray, sRGB, sYCC and CMYK are) is not read"},
      {"lab.profile.jp2", "a colour profile that is not for gray, RGB or CMYK is not read"},
      {"six_components.j2k", "6 components; at most 5 are read"},
      {"premultiplied.jp2", "premultiplied alpha is not read"},
      {"two_of_three.jp2", "2 channels where there should be 3"}};
  for (const auto& [sample, reason] : kSamples) {
    const std::string path = SourcePath(std::string("tests/data/images/refused/") + sample);
    EXPECT_EQ(ErrorOf(path), path + ": JPEG 2000: " + reason);
  }
  const TempFolder folder;
  const std::string path = folder.Write("a.j2k", Patched("rgb.j2k", 42, {23}));
  EXPECT_EQ(ErrorOf(path), path + ": JPEG 2000: 24 bits a sample; at most 16 are read");
}

// What is kept for each tile is far more than a pixel of it.
TEST(BadFiles, Jpeg2000OfManyTilesIsRefusedBeforeTheyAreAllocated) {
  const TempFolder folder;
  Bytes file = Patched("rgb.j2k", 8, {0, 0, 0, 255, 0, 0, 0, 255});
  const Bytes kTile = {0, 0, 0, 1, 0, 0, 0, 1};
  std::copy(kTile.begin(), kTile.end(), file.begin() + 24);
  const std::string error = ErrorOf(folder.Write("a.j2k", file));
  EXPECT_TRUE(Contains(error, "65025 tiles, far more than an image of this size needs")) << error;
}

// A coding style of precincts of one pixel, in the main header and in that of the tile.
TEST(BadFiles, Jpeg2000OfManyPrecinctsIsRefusedBeforeTheyAreAllocated) {
  const TempFolder folder;
  const Bytes large = Patched("rgb.j2k", 8, {0, 0, 32, 0, 0, 0, 16, 0});  // 8192 x 4096
  const Bytes style = {0xFF, 0x52, 0, 13, 1, 0, 0, 1, 0, 0, 4, 4, 0, 1, 0};
  for (const uint8_t marker : {uint8_t{0x52}, uint8_t{0x93}}) {  // coding style, data of the tile
    Bytes file = large;
    const Bytes tile = {0, 0, 32, 0, 0, 0, 32, 0};
    std::copy(tile.begin(), tile.end(), file.begin() + 24);
    const Bytes mark = {0xFF, marker};
    const auto at = std::search(file.begin(), file.end(), mark.begin(), mark.end());
    ASSERT_NE(at, file.end());
    file.insert(at, style.begin(), style.end());
    const std::string error = ErrorOf(folder.Write("a.j2k", file));
    EXPECT_TRUE(Contains(error, "far more precincts than an image of this size needs")) << error;
  }
}

TEST(BadFiles, FurtherImagesOfAGifAreSaid) {
  const TempFolder folder;
  Bytes file = ReadBytes(SourcePath("tests/data/images/palette8.gif"));
  const size_t first = 13 + 3 * 256;  // behind the colours
  const Bytes twice(file.begin() + first, file.end());
  file.resize(file.size() - 1);  // the mark of the end
  file.insert(file.end(), twice.begin(), twice.end());
  const Outcome outcome = ReadAll(folder.Write("a.gif", file));
  ASSERT_EQ(outcome.pages.size(), 1U);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.warning, "only the first image of the GIF is read");
}

TEST(BadFiles, BitmapsOfOtherKindsSayWhatTheyAreAndWhatToDo) {
  const TempFolder folder;
  const auto expect_refused = [](const std::string& path, const std::string& kind) {
    EXPECT_EQ(ErrorOf(path), path + ": BMP: " + kind + " is not read; convert it to PNG or TIFF");
  };
  const std::pair<const char*, const char*> kSamples[] = {{"bits4.core.bmp", "OS/2 bitmap"},
                                                          {"rle4.bmp", "RLE4"},
                                                          {"rle8.bmp", "RLE8"},
                                                          {"bits16.bmp", "16 bits per pixel"},
                                                          {"bits32.v4.bmp", "bit fields"}};
  for (const auto& [sample, kind] : kSamples) {
    expect_refused(SourcePath(std::string("tests/data/images/refused/") + sample), kind);
  }
  expect_refused(folder.Write("a.bmp", Patched("bits24.bmp", 30, {4})), "JPEG inside");
  expect_refused(folder.Write("a.bmp", Patched("bits24.bmp", 30, {9})), "unknown compression");
  expect_refused(folder.Write("a.bmp", Patched("bits24.bmp", 14, {64})), "OS/2 bitmap");
}

}  // namespace
}  // namespace platen
