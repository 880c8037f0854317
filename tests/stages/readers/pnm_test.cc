#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "model/support/error.h"
#include "stages/readers/decoders.h"
#include "stages/readers/exif.h"

namespace platen {
namespace {

using std::literals::operator""s;

// The samples of a picture without its size, or what went wrong with it.
std::string Decode(const std::string& file) {
  try {
    const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
    const PageImage page = DecodePnm({"a.pnm", {bytes, file.size()}}, {});
    std::ostringstream text;
    text << page.image.width << "x" << page.image.height << ":";
    for (const uint8_t sample : page.image.rgb) text << " " << int{sample};
    return text.str();
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Pnm, TextFilesOfAllThreeKindsAreRead) {
  EXPECT_EQ(Decode("P1\n# black is 1\n2 2\n10\n0 1\n"), "2x2: 0 0 0 255 255 255 255 255 255 0 0 0");
  EXPECT_EQ(Decode("P2 2 1 15 0\t15"), "2x1: 0 0 0 255 255 255");
  EXPECT_EQ(Decode("P3 1 1 255 1 2 # comment\n 3"), "1x1: 1 2 3");
}

TEST(Pnm, BinaryFilesOfAllThreeKindsAreRead) {
  // Rows of a bitmap start at a byte.
  EXPECT_EQ(Decode("P4 2 2\n\x40\x80"s), "2x2: 255 255 255 0 0 0 0 0 0 255 255 255");
  EXPECT_EQ(Decode("P5 2 1 255\n\x07\xFE"s), "2x1: 7 7 7 254 254 254");
  EXPECT_EQ(Decode("P6 1 1 255\n\x01\x02\x03"s), "1x1: 1 2 3");
}

TEST(Pnm, SixteenBitSamplesKeepTheirHighByte) {
  EXPECT_EQ(Decode("P5 2 1 65535\n\x12\xFF\xFF\xFF"s), "2x1: 18 18 18 255 255 255");
  EXPECT_EQ(Decode("P6 1 1 65535\n\x01\x00\x02\x80\x03\xFF"s), "1x1: 1 2 3");
}

TEST(Pnm, OtherNumbersOfLevelsAreScaled) {
  EXPECT_EQ(Decode("P5 3 1 2\n\x00\x01\x02"s), "3x1: 0 0 0 128 128 128 255 255 255");
  EXPECT_EQ(Decode("P5 2 1 1000\n\x01\xF4\x03\xE8"s), "2x1: 128 128 128 255 255 255");
}

TEST(Pnm, WhatFollowsTheImageIsIgnored) {
  EXPECT_EQ(Decode("P5 1 1 255\n\x07P5 1 1 255\n\x08"s), "1x1: 7 7 7");
}

TEST(Pnm, BadFilesSayWhatIsWrongAndWhere) {
  EXPECT_EQ(Decode("P5 1 1 255\n"), "a.pnm: cut off at byte 11 (PNM)");
  EXPECT_EQ(Decode("P6 2 2 255\n12345678901"), "a.pnm: cut off at byte 22 (PNM)");
  EXPECT_EQ(Decode("P5 1"), "a.pnm: cut off at byte 4 (PNM)");
  EXPECT_EQ(Decode("P2 1 x 255\n1"),
            "a.pnm: damaged at byte 5 (PNM: no number where the height belongs)");
  EXPECT_EQ(Decode("P2 1 1 0 1"),
            "a.pnm: damaged at byte 8 (PNM: the number of levels is not between 1 and 65535)");
  EXPECT_EQ(Decode("P2 1 1 9 10"),
            "a.pnm: damaged at byte 11 (PNM: a sample is above the highest level)");
  EXPECT_EQ(Decode("P5 1 1 9\n\x0A"),
            "a.pnm: damaged at byte 10 (PNM: a sample is above the highest level)");
  EXPECT_EQ(Decode("P1 1 1 7"), "a.pnm: damaged at byte 8 (PNM: a pixel is neither 0 nor 1)");
  EXPECT_EQ(Decode("P5 0 5 255\n"), "a.pnm: the image is empty (0x5 pixels)");
  EXPECT_EQ(Decode("P6 9 9 65536\n123"),
            "a.pnm: damaged at byte 12 (PNM: the number of levels is not between 1 and 65535)");
}

TEST(Pnm, EveryPrefixIsAnErrorThatNamesTheFile) {
  const std::string file = "P6 # two pixels\n2 1\n255\nabcdef";
  for (size_t size = 2; size < file.size(); ++size) {
    EXPECT_TRUE(Decode(file.substr(0, size)).starts_with("a.pnm")) << size;
  }
  EXPECT_EQ(Decode(file), "2x1: 97 98 99 100 101 102");
}

// "II", 42, first directory, then tags of 12 bytes each.
std::vector<uint8_t> ExifBlock(std::initializer_list<uint8_t> directory) {
  constexpr std::array<uint8_t, 14> kHead = {'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8};
  std::vector<uint8_t> block(kHead.size() + directory.size());
  std::copy(directory.begin(), directory.end(),
            std::copy(kHead.begin(), kHead.end(), block.begin()));
  return block;
}

TEST(Exif, OrientationAndResolutionAreRead) {
  const auto block = ExifBlock({3,    0,                                   //
                                0x12, 1, 3, 0, 1,   0, 0, 0, 8,  0, 0, 0,  // orientation 8
                                0x1A, 1, 5, 0, 1,   0, 0, 0, 50, 0, 0, 0,  // x resolution at 50
                                0x28, 1, 3, 0, 1,   0, 0, 0, 3,  0, 0, 0,  // per centimetre
                                0,    0, 0, 0, 100, 0, 0, 0, 2,  0, 0, 0});
  const ExifFacts facts = ParseExif(block);
  EXPECT_EQ(facts.orientation, 8);
  EXPECT_DOUBLE_EQ(facts.dpi_x, 50 * 2.54);
  EXPECT_EQ(facts.dpi_y, 0);
}

TEST(Exif, DamagedBlocksGiveTheDefaults) {
  const auto expect_defaults = [](const std::vector<uint8_t>& block) {
    const ExifFacts facts = ParseExif(block);
    EXPECT_EQ(facts.orientation, 1);
    EXPECT_EQ(facts.dpi_x, 0);
  };
  expect_defaults({});
  expect_defaults({'I', 'I', 42, 0});
  expect_defaults(ExifBlock({1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 9, 0, 0, 0}));  // no such orientation
  expect_defaults(ExifBlock({1, 0, 0x1A, 1, 5, 0, 1, 0, 0, 0, 255, 255, 255, 255}));
  auto far_away = ExifBlock({1, 0});
  std::fill_n(far_away.begin() + 10, 4, uint8_t{255});
  expect_defaults(far_away);
}

}  // namespace
}  // namespace platen
