// Blank pages as scanners return them, and pages with something on them.
#include "stages/layout/ink.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "tests/stages/layout/drawn_page.h"

namespace platen {
namespace {

using testing::DrawnPage;

constexpr int kWidth = 1654, kHeight = 2339;  // A4 at 200 dpi

// `value` of every pixel from its place and the one before.
Image Changed(Image page, const std::function<double(int x, int y, double before)>& value) {
  for (int y = 0; y < page.height; ++y) {
    for (int x = 0; x < page.width; ++x) {
      uint8_t* pixel = page.Row(y) + 3 * x;
      std::fill_n(pixel, 3, static_cast<uint8_t>(std::clamp(value(x, y, pixel[0]), 0.0, 255.0)));
    }
  }
  return page;
}

// Grain of the paper and light that falls off to the right.
Image Scanned(const Image& page) {
  std::mt19937 random(20261123);
  return Changed(page, [&](int x, int, double before) {
    return before * (1 - 0.25 * x / kWidth) + static_cast<double>(random() % 41) - 20;
  });
}

DrawnPage Page(uint8_t paper = 240) { return DrawnPage(kWidth, kHeight, paper); }

// Letters 2 mm high drawn with strokes of 0.4 mm.
void Write(DrawnPage& page, double x, double y, int letters, uint8_t value) {
  for (int i = 0; i < letters; ++i, x += 17) {
    page.Fill(x, y, x + 12, y + 16, value);
    page.Fill(x + 3, y + 3, x + 9, y + 6, 240);
    page.Fill(x + 3, y + 9, x + 12, y + 13, 240);
  }
}

TEST(HasInk, PaperHasNone) {
  for (const int paper : {0, 60, 128, 200, 255}) {
    const Image page = Page(static_cast<uint8_t>(paper)).image();
    EXPECT_FALSE(HasInk(page)) << paper;
    EXPECT_FALSE(HasInk(Scanned(page))) << paper;
  }
  for (const auto& [width, height] : {std::pair(0, 0), {1, 1}, {1, 5000}, {5000, 1}, {40, 30}}) {
    EXPECT_FALSE(HasInk(DrawnPage(width, height).image())) << width << " x " << height;
  }
}

TEST(HasInk, BordersOfTheScannerAreNone) {
  DrawnPage page = Page();
  page.Fill(0, 0, 70, kHeight, 10);
  page.Fill(0, kHeight - 40, kWidth, kHeight, 10);
  page.Fill(kWidth - 12, 0, kWidth, kHeight, 10);
  EXPECT_FALSE(HasInk(Scanned(page.image())));
}

TEST(HasInk, DirtAlongTheEdgeIsNoneATightCropIsInk) {
  DrawnPage page = Page();
  Write(page, 12, 2000, 1, 40);
  Write(page, kWidth - 32, 1000, 1, 40);
  EXPECT_FALSE(HasInk(Scanned(page.image())));
  DrawnPage line(600, 40, 240);
  Write(line, 20, 12, 30, 40);
  EXPECT_TRUE(HasInk(line.image()));
}

TEST(HasInk, SpecksHolesFoldsAndRulingsAreNone) {
  DrawnPage page = Page();
  for (int i = 0; i < 40; ++i) page.Fill(100 + 37 * i, 90 + 53 * i, 104 + 37 * i, 94 + 53 * i);
  for (const int y : {800, 1500}) page.Fill(60, y, 107, y + 47, 30);  // 6 mm
  page.Fill(0, 1170, kWidth, 1174, 190);
  for (int y = 300; y < 2200; y += 60) page.Fill(120, y, 1530, y + 3, 90);
  EXPECT_FALSE(HasInk(Scanned(page.image())));
  EXPECT_FALSE(HasInk(Scanned(page.Skewed(0.7))));
}

TEST(HasInk, PrintThatShinesThroughIsNone) {
  DrawnPage page = Page();
  for (int line = 0; line < 40; ++line) Write(page, 200, 200 + 45 * line, 70, 215);
  EXPECT_FALSE(HasInk(Scanned(page.image())));
}

TEST(HasInk, AWordOrAPageNumberIsEnough) {
  DrawnPage number = Page();
  Write(number, 810, 2200, 2, 40);
  EXPECT_TRUE(HasInk(Scanned(number.image())));
  DrawnPage word = Page();
  Write(word, 300, 900, 5, 110);
  EXPECT_TRUE(HasInk(Scanned(word.image())));
}

TEST(HasInk, LightTextOnDarkGroundIsInk) {
  DrawnPage page = Page();
  Write(page, 300, 900, 20, 40);
  const Image negative = Changed(page.image(), [](int, int, double v) { return 255 - v; });
  EXPECT_TRUE(HasInk(Scanned(negative)));
}

TEST(HasInk, APictureIsInkEvenIfItFillsThePage) {
  const auto texture = [](int x, int y) {
    return 128 + 50 * std::sin(x * 0.031) * std::cos(y * 0.023) +
           60 * std::sin(x * 0.11 + y * 0.07);
  };
  const Image full = Changed(Page().image(), [&](int x, int y, double) { return texture(x, y); });
  EXPECT_TRUE(HasInk(Scanned(full)));
  const Image part = Changed(Page().image(), [&](int x, int y, double before) {
    return x > 400 && x < 1000 && y > 500 && y < 900 ? texture(x, y) : before;
  });
  EXPECT_TRUE(HasInk(Scanned(part)));
}

TEST(HasInk, SmallPagesAreLookedAtFromAsNear) {
  DrawnPage card(640, 400, 240);
  Write(card, 200, 200, 6, 40);
  EXPECT_TRUE(HasInk(card.image()));
}

}  // namespace
}  // namespace platen
