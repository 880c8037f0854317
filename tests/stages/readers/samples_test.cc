// Every kind of image file that is read, against pixels computed elsewhere
// (tests/data/images/make_samples.py and tests/golden/README.md say by what).
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "stages/readers/document_reader.h"
#include "tests/support/images.h"

namespace platen {
namespace {

using ::platen::testing::ReadNpyImage;
using ::platen::testing::SameImage;
using ::platen::testing::SourcePath;

const std::string kSamples = "tests/data/images/";
const std::string kGoldens = "tests/golden/images/";

PageImage ReadOnlyPage(const std::string& relative, const ReadLimits& limits = {}) {
  const auto reader = DocumentReader::Open(SourcePath(relative), limits);
  EXPECT_EQ(reader->num_pages(), 1);
  return reader->ReadPage(0);
}

nlohmann::json Samples() {
  std::ifstream in(SourcePath(kSamples + "samples.json"));
  return nlohmann::json::parse(in)["samples"];
}

Image Expected(const nlohmann::json& name) {
  return ReadNpyImage(SourcePath(kSamples + name.get<std::string>()));
}

TEST(ReaderSamples, EverySampleDecodesToItsPixels) {
  int num_samples = 0;
  for (const auto& sample : Samples()) {
    if (!sample.contains("expected")) continue;
    SCOPED_TRACE(sample["file"].get<std::string>());
    ++num_samples;
    const PageImage page = ReadOnlyPage(kSamples + sample["file"].get<std::string>());
    EXPECT_TRUE(SameImage(page.image, Expected(sample["expected"]), sample.value("tolerance", 0)));
    EXPECT_EQ(page.warning, "");
    if (sample.contains("dpi")) {
      EXPECT_NEAR(page.dpi_x, sample["dpi"][0].get<double>(), 0.02);
      EXPECT_NEAR(page.dpi_y, sample["dpi"][1].get<double>(), 0.02);
    }
  }
  EXPECT_GT(num_samples, 90);
}

TEST(ReaderSamples, AlphaIsCompositedOnWhiteOnlyWhenAskedFor) {
  ReadLimits on_white;
  on_white.composite_alpha_on_white = true;
  int num_samples = 0;
  for (const auto& sample : Samples()) {
    if (!sample.contains("expected_on_white")) continue;
    SCOPED_TRACE(sample["file"].get<std::string>());
    ++num_samples;
    const PageImage page = ReadOnlyPage(kSamples + sample["file"].get<std::string>(), on_white);
    EXPECT_TRUE(SameImage(page.image, Expected(sample["expected_on_white"])));
  }
  EXPECT_GE(num_samples, 10);
}

TEST(ReaderSamples, EveryPageOfATiffIsRead) {
  for (const auto& sample : Samples()) {
    if (!sample.contains("expected_pages")) continue;
    const auto reader =
        DocumentReader::Open(SourcePath(kSamples + sample["file"].get<std::string>()), {});
    const auto& pages = sample["expected_pages"];
    ASSERT_EQ(reader->num_pages(), static_cast<int>(pages.size()));
    // Backwards: no page may depend on another having been read before.
    for (int i = reader->num_pages() - 1; i >= 0; --i) {
      SCOPED_TRACE(i);
      EXPECT_TRUE(SameImage(reader->ReadPage(i).image, Expected(pages[static_cast<size_t>(i)])));
    }
    return;
  }
  FAIL() << "no sample with several pages";
}

TEST(ReaderSamples, ManyThreadsReadPagesOfOneDocument) {
  const auto reader = DocumentReader::Open(SourcePath(kSamples + "three_pages.tif"), {});
  std::vector<Image> expected;
  for (int i = 0; i < 3; ++i) expected.push_back(reader->ReadPage(i).image);
  std::atomic<int> num_equal = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < t + 30; ++i) {
        num_equal += reader->ReadPage(i % 3).image.rgb == expected[static_cast<size_t>(i % 3)].rgb;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_equal, 180);
}

TEST(ReaderSamples, TheReferencesInputsDecodeToItsArrays) {
  const std::pair<const char*, const char*> kCases[] = {
      {"tiny20.png", "tiny20"},       {"tall30x400.png", "tall30x400"}, {"gray.png", "gray"},
      {"rgba.png", "rgba"},           {"exif6.jpg", "exif6"},           {"palette.png", "palette"},
      {"gray16.png", "gray16.scaled"}};
  for (const auto& [file, array] : kCases) {
    SCOPED_TRACE(file);
    EXPECT_TRUE(SameImage(ReadOnlyPage(kGoldens + file).image,
                          ReadNpyImage(SourcePath(kGoldens + "decoded/" + array + ".npy"))));
  }
}

TEST(ReaderSamples, TheReferencesAlphaOnWhiteIsEqualToo) {
  ReadLimits on_white;
  on_white.composite_alpha_on_white = true;
  EXPECT_TRUE(SameImage(ReadOnlyPage(kGoldens + "rgba.png", on_white).image,
                        ReadNpyImage(SourcePath(kGoldens + "decoded/rgba.white.npy"))));
}

}  // namespace
}  // namespace platen
