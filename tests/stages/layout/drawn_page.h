// Pages drawn from rectangles, with text whose x-height and baseline are known exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "model/support/image.h"
#include "stages/layout/layout.h"

namespace platen::testing {

// ThreadSanitizer cannot see how OpenCV's own threads synchronise; the program starts none either.
#ifdef __SANITIZE_THREAD__
inline const bool kOneOpenCvThread = (KeepOpenCvSingleThreaded(), true);
#endif

class DrawnPage {
 public:
  DrawnPage(int width, int height, uint8_t paper = 255) : image_(width, height) {
    std::fill(image_.rgb.begin(), image_.rgb.end(), paper);
  }

  const Image& image() const { return image_; }

  void Fill(double x0, double y0, double x1, double y1, uint8_t value = 0) {
    for (int y = Clamp(y0, image_.height); y < Clamp(y1, image_.height); ++y) {
      std::fill(image_.Row(y) + 3 * Clamp(x0, image_.width),
                image_.Row(y) + 3 * Clamp(x1, image_.width), value);
    }
  }

  // Letters: x small, b with ascender, p with descender, C capital, i with dot; . , space.
  // A letter is 0.8 x-heights wide and stands on `baseline` (its first white row). Returns the end.
  double Text(double x, int baseline, int x_height, const std::string& letters) {
    const double h = x_height;
    for (char c : letters) {
      const double width = c == '.' || c == ',' ? 0.25 * h : c == 'i' ? 0.3 * h : 0.8 * h;
      if (c == ' ') {
        x += 0.6 * h;
        continue;
      }
      const double top = c == 'b' || c == 'C' ? 1.45 * h : c == '.' || c == ',' ? 0.25 * h : h;
      const double bottom = c == 'p' ? 0.4 * h : c == ',' ? 0.2 * h : 0;
      Fill(x, baseline - std::round(top), x + width, baseline + std::round(bottom));
      if (c == 'i') Fill(x, baseline - 1.5 * h, x + width, baseline - 1.2 * h);
      x += width + 0.25 * h;
    }
    return x;
  }

  // `count` lines of x-height 14, 40 apart, whose words do not end below one another.
  void Prose(int first_baseline, int count) {
    const std::string words = "xbpxix Cxb xxixpxixpb bxxx xix xxpxibx xbbxx ";
    for (int i = 0; i < count; ++i) {
      const auto from = static_cast<size_t>(7 * i) % words.size();
      Text(100, first_baseline + 40 * i, 14, words.substr(from) + words.substr(0, from));
    }
  }

  // The page sheared so that its lines fall to the right by `degrees`.
  Image Skewed(double degrees) const {
    const double slope = std::tan(degrees * 3.14159265358979 / 180);
    DrawnPage skewed(image_.width, image_.height);
    for (int x = 0; x < image_.width; ++x) {
      const int shift = static_cast<int>(std::lround(slope * (x - image_.width / 2.0)));
      for (int y = 0; y < image_.height; ++y) {
        const int from = std::clamp(y - shift, 0, image_.height - 1);
        std::copy_n(image_.Row(from) + 3 * x, 3, skewed.image_.Row(y) + 3 * x);
      }
    }
    return skewed.image_;
  }

 private:
  static int Clamp(double v, int size) {
    return static_cast<int>(std::clamp(std::lround(v), 0L, static_cast<long>(size)));
  }

  Image image_;
};

// A few lines of words in the mix of letters of ordinary prose, from the top left corner given.
inline void DrawProse(DrawnPage& page, double x, int first_baseline, int x_height, int lines,
                      int leading) {
  const std::string words[] = {"xbxpx", "bxx", "Cxxib", "xx", "pxxbxx", "xibx", "bxpxx.", "xbxx,"};
  for (int line = 0; line < lines; ++line) {
    std::string text;
    for (int word = 0; word < 6; ++word) text += words[(3 * line + 5 * word) % 8] + " ";
    page.Text(x, first_baseline + line * leading, x_height, text);
  }
}

}  // namespace platen::testing
