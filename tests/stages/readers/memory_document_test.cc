// Documents in memory are read as the same bytes in a file are.
#include "stages/readers/memory_document.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/support/error.h"
#include "tests/support/npy.h"
#include "tests/support/temp_files.h"

namespace platen {
namespace {

using testing::Bytes;
using testing::ReadBytes;
using testing::SourcePath;

std::vector<uint8_t> BytesOf(const std::string& path) {
  const Bytes bytes = ReadBytes(path);
  return {bytes.begin(), bytes.end()};
}

// What became of a document: sizes, pixels and errors without file names.
std::string Outcome(const std::function<std::unique_ptr<DocumentReader>()>& open) {
  std::string outcome;
  try {
    const auto reader = open();
    for (int i = 0; i < reader->num_pages(); ++i) {
      outcome += std::to_string(i) + ": ";
      try {
        const ImageSize size = reader->PageSize(i);
        const PageImage page = reader->ReadPage(i);
        outcome += std::to_string(size.width) + "x" + std::to_string(size.height) + " " +
                   std::to_string(page.dpi_x) + " " + page.warning;
        outcome.append(page.image.rgb.begin(), page.image.rgb.end());
      } catch (const Error& e) {
        outcome += e.location().field + e.reason();
      }
    }
  } catch (const Error& e) {
    outcome += e.reason();
  }
  return outcome;
}

TEST(OpenBytes, GivesThePagesOfTheFile) {
  int documents = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/data/images"))) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const std::vector<uint8_t> bytes = BytesOf(path);
    const std::string of_file = Outcome([&] { return DocumentReader::Open(path, {}); });
    if (of_file.find("its content is no image") != std::string::npos) continue;  // told by its name
    EXPECT_TRUE(of_file == Outcome([&] { return OpenBytes(bytes, {}); })) << path;
    ++documents;
  }
  EXPECT_GT(documents, 20);
}

TEST(OpenBytes, NoFormatIsAnErrorThatNamesNoPath) {
  const std::vector<uint8_t> noise = {1, 2, 3, 4, 5};
  for (const std::span<const uint8_t> bytes : {std::span<const uint8_t>(), std::span(noise)}) {
    try {
      OpenBytes(bytes, {});
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kInput);
      EXPECT_EQ(std::string(e.what()).find("/proc"), std::string::npos) << e.what();
    }
  }
}

TEST(OpenImage, IsOnePageWithItsResolution) {
  Image image(20, 10);
  image.rgb[5] = 77;
  const auto reader = OpenImage(image, 300, {});
  EXPECT_EQ(reader->num_pages(), 1);
  EXPECT_EQ(reader->PageSize(0).width, 20);
  EXPECT_EQ(reader->ReadPage(0).image.rgb, image.rgb);
  EXPECT_EQ(reader->ReadPage(0).dpi_y, 300);
}

TEST(OpenImage, RefusesWhatIsNoImageOrTooLarge) {
  EXPECT_THROW(OpenImage(Image(), 0, {}), Error);
  Image short_of_pixels(20, 10);
  short_of_pixels.rgb.resize(599);
  EXPECT_THROW(OpenImage(short_of_pixels, 0, {}), Error);
  ReadLimits limits;
  limits.max_pixels = 199;
  EXPECT_THROW(OpenImage(Image(20, 10), 0, limits), Error);
}

}  // namespace
}  // namespace platen
