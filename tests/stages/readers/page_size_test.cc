// Sizes of pages from their headers, and files that would cost far more memory than their pages do.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "model/support/error.h"
#include "stages/readers/document_reader.h"
#include "tests/support/images.h"
#include "tests/support/temp_files.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using std::literals::operator""s;
using ::platen::testing::Bytes;
using ::platen::testing::ReadBytes;
using ::platen::testing::SourcePath;
using ::platen::testing::TempFolder;

constexpr int64_t kMiB = 1 << 20;
constexpr uint64_t kTwoGiB = uint64_t{2} << 30;

std::string Sample(const std::string& name) { return SourcePath("tests/data/images/" + name); }

int64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

struct Outcome {
  std::string text;  // what `work` returned, or the reason of its Error
  int64_t peak = 0;  // how much more memory it took than there was before
};

// Runs `work` in a process of its own.
Outcome RunMeasured(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const int64_t before = PeakMemory();
    std::string text;
    try {
      text = work();
    } catch (const Error& error) {
      text = error.reason();
    }
    const std::string message = std::to_string(PeakMemory() - before) + " " + text;
    _exit(write(ends[1], message.data(), message.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string message(4096, '\0');
  message.resize(static_cast<size_t>(std::max<ssize_t>(read(ends[0], message.data(), 4096), 0)));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  std::istringstream in(message);
  Outcome outcome;
  in >> outcome.peak;
  std::getline(in >> std::ws, outcome.text);
  return outcome;
}

Outcome ReadMeasured(const std::string& path) {
  return RunMeasured([&path] {
    const auto reader = DocumentReader::Open(path, {});
    const Image image = reader->ReadPage(0).image;
    return std::to_string(image.width) + "x" + std::to_string(image.height);
  });
}

// The file with zeros after it, which take no room on disk.
std::string WriteSparse(const TempFolder& folder, const std::string& name, const std::string& head,
                        uint64_t size = kTwoGiB) {
  std::string path = folder.Write(name, head);
  fs::resize_file(path, size);
  return path;
}

std::string Text(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

// Size of every page, before it is turned, and as decoded; or the same error for both.
void ExpectSizesOfAllPages(const std::string& path) {
  const auto reader = DocumentReader::Open(path, {});
  for (int i = 0; i < reader->num_pages(); ++i) {
    const ImageSize size = reader->PageSize(i);
    const Image image = reader->ReadPage(i).image;
    const bool as_is = size.width == image.width && size.height == image.height;
    const bool turned = size.width == image.height && size.height == image.width;
    EXPECT_TRUE(as_is || turned) << size.width << "x" << size.height << " page " << i;
  }
}

TEST(PageSize, EqualsThatOfThePixelsInEverySample) {
  int num_files = 0;
  for (const char* folder : {"tests/data/images", "assets/samples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(SourcePath(folder))) {
      const FileKind kind = entry.is_regular_file() ? LookAtFile(entry.path()) : FileKind{};
      if (kind.cls != FileClass::kDocument || entry.path().filename() == "encrypted.pdf" ||
          entry.path().filename() == "animation.webp" ||
          entry.path().parent_path().filename() == "refused") {
        continue;
      }
      SCOPED_TRACE(entry.path());
      ExpectSizesOfAllPages(entry.path());
      ++num_files;
    }
  }
  EXPECT_GT(num_files, 100);
}

TEST(PageSize, IsThatBeforeTurning) {
  for (const char* name : {"exif6.jpg", "exif6.png", "exif6.webp", "orientation6.tif"}) {
    const auto reader = DocumentReader::Open(Sample(name), {});
    const Image image = reader->ReadPage(0).image;
    EXPECT_EQ(reader->PageSize(0).width, image.height) << name;
    EXPECT_EQ(reader->PageSize(0).height, image.width) << name;
  }
}

// What PageSize and ReadPage say about the first page.
std::pair<std::string, std::string> Reasons(const std::string& path, const ReadLimits& limits) {
  const auto reader = DocumentReader::Open(path, limits);
  const auto reason = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.what();
    }
    return "";
  };
  return {reason([&] { reader->PageSize(0); }), reason([&] { reader->ReadPage(0); })};
}

TEST(PageSize, LargePagesAreRefusedAsReadPageDoes) {
  ReadLimits limits;
  limits.max_pixels = 500;
  for (const char* name : {"rgb8.png", "gray.jpg", "lossy.webp", "bits24.bmp", "rgb8.tif",
                           "rgb8.bigtiff.be.tif", "three_pages.tif", "two_pages.pdf"}) {
    const auto [size, pixels] = Reasons(Sample(name), limits);
    EXPECT_NE(size.find("the image is too large"), std::string::npos) << name << ": " << size;
    EXPECT_EQ(size, pixels) << name;
  }
  const TempFolder folder;
  const std::string pnm = folder.Write("a.ppm", "P6 20000 10001 255\n");
  const auto [size, pixels] = Reasons(pnm, {});
  EXPECT_NE(size.find("20000x10001 pixels; the limit is 200000000"), std::string::npos) << size;
  EXPECT_EQ(size, pixels);
  EXPECT_NE(Reasons(folder.Write("a.ppm", "P6 20000 10000 255\n"), {}).second.find("cut off"),
            std::string::npos);
}

TEST(PageSize, HeadersCutShortAreErrors) {
  const TempFolder folder;
  for (const char* name : {"rgb8.png", "gray.jpg", "lossy.webp", "bits24.bmp", "bits8.bmp"}) {
    const Bytes whole = ReadBytes(Sample(name));
    for (size_t size = 18; size < 30; ++size) {
      const std::string path = folder.Write("cut", std::span(whole).first(size));
      const auto [size_reason, reason] = Reasons(path, {});
      EXPECT_EQ(size_reason, path + ": cut off at byte " + std::to_string(size) + " (" +
                                 FormatName(LookAtFile(path).format) + ")")
          << name;
      EXPECT_EQ(size_reason, reason);
    }
  }
}

TEST(PageSize, SegmentsBeforeAJpegsHeaderArePassedOver) {
  const TempFolder folder;
  const Bytes whole = ReadBytes(Sample("gray.jpg"));
  const auto with = [&](const std::string& between) {
    return folder.Write("a.jpg", "\xFF\xD8\xFF\xE5\0\2"s + between + Text(whole).substr(2));
  };
  std::string profile;  // as large ones are stored
  for (int i = 0; i < 200; ++i) profile += "\xFF\xE2\xFF\xFF"s + std::string(65533, '\x12');
  for (const std::string& between :
       {""s, profile, "\xFF\xFF\xFF"s, std::string(3000, '\0'), "\xFF\0\xFF\1"s}) {
    ExpectSizesOfAllPages(with(between));
  }
  const auto expect_damaged = [](const std::string& path) {
    const std::string reason = Reasons(path, {}).first;
    EXPECT_NE(reason.find(": damaged at byte "), std::string::npos) << reason;
  };
  expect_damaged(with(std::string(100'000, '\0')));
  expect_damaged(with("\xFF\xE2\0\1"s));
  expect_damaged(with("\xFF\xDA\0\2"s));
  expect_damaged(with("\xFF\xD9"));
  std::string segments;
  for (int i = 0; i < 5000; ++i) segments += "\xFF\xE2\0\2"s;
  expect_damaged(with(segments));
}

TEST(HugeFiles, ASignatureAloneCostsNoMemory) {
  const TempFolder folder;
  const std::pair<const char*, std::string> kSignatures[] = {
      {"a.png", "\x89PNG\r\n\x1A\n"},
      {"a.jpg", "\xFF\xD8\xFF"},
      {"b.jpg", "\xFF\xD8\xFF\xE0\x00\x10"s},
      {"a.webp", "RIFF\xF8\xFF\xFF\x7FWEBP"s},
      {"b.webp", "RIFF\xF8\xFF\xFF\x7FWEBPVP8 "s},
      {"a.bmp", "BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0"s},
      {"a.ppm", "P6\n"},
      {"b.ppm", "P6 #"},
      {"a.tif", "II*\0"s},
      {"b.tif", "II*\0\0\0\0\x40"s},
      {"c.tif", "MM\0+\0\x08\0\0\0\0\0\0\x40\0\0\0"s}};
  for (const auto& [name, head] : kSignatures) {
    const Outcome outcome = ReadMeasured(WriteSparse(folder, name, head));
    EXPECT_LT(outcome.peak, 64 * kMiB) << name;
    EXPECT_NE(outcome.text, "") << name;
    EXPECT_EQ(outcome.text.find("x0"), std::string::npos) << name << ": " << outcome.text;
  }
}

TEST(HugeFiles, ASmallImageInFrontOfGigabytesIsRefusedInAFewBytes) {
  const TempFolder folder;
  for (const char* name : {"rgb8.png", "gray.jpg", "progressive.jpg", "lossy.webp", "lossless.webp",
                           "alpha.webp", "bits24.bmp", "bits8.bmp"}) {
    const ImageSize size = DocumentReader::Open(Sample(name), {})->PageSize(0);
    const Outcome outcome = ReadMeasured(WriteSparse(folder, "a", Text(ReadBytes(Sample(name)))));
    EXPECT_LT(outcome.peak, 64 * kMiB) << name;
    EXPECT_EQ(outcome.text, "the file has 2,147,483,648 bytes, far more than an image of " +
                                std::to_string(size.width) + " x " + std::to_string(size.height) +
                                " pixels needs")
        << name;
  }
  const Outcome pnm = ReadMeasured(WriteSparse(folder, "a", "P6 2 1 255\nabcdef"));
  EXPECT_LT(pnm.peak, 64 * kMiB);
  EXPECT_TRUE(pnm.text.starts_with("the file has 2,147,483,648 bytes")) << pnm.text;
  // A TIFF is never read whole: what lies behind its page is not looked at.
  const Outcome tiff =
      ReadMeasured(WriteSparse(folder, "a", Text(ReadBytes(Sample("rgb8.lzw.tif")))));
  EXPECT_LT(tiff.peak, 64 * kMiB);
  EXPECT_EQ(tiff.text, "37x29");
}

TEST(HugeFiles, ATileFarLargerThanItsPageIsRefused) {
  const TempFolder folder;
  Bytes tiff = ReadBytes(Sample("rgb8.tiles.tif"));
  size_t at = tiff[4] | tiff[5] << 8;
  const size_t count = tiff[at] | tiff[at + 1] << 8;
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = at + 2 + 12 * i;
    const int tag = tiff[entry] | tiff[entry + 1] << 8;
    if (tag == 322 || tag == 323) tiff[entry + 9] = 0x20;  // tiles of about 8192 x 8192
  }
  const Outcome outcome = ReadMeasured(folder.Write("a.tif", tiff));
  EXPECT_LT(outcome.peak, 64 * kMiB);
  EXPECT_EQ(outcome.text, "TIFF: tiles are far larger than the page");
}

TEST(HugeFiles, WhatAPlausibleFileHasBehindItsImageIsIgnored) {
  const TempFolder folder;
  const std::string path =
      WriteSparse(folder, "a", Text(ReadBytes(Sample("gray.jpg"))), 60 * uint64_t{kMiB});
  EXPECT_EQ(ReadMeasured(path).text, "61x43");
}

}  // namespace
}  // namespace platen
