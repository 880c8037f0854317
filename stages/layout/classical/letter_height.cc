#include "stages/layout/classical/letter_height.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace platen::layout {
namespace {

constexpr int kLowest = 5;            // pixels; below this nothing can be told from dirt
constexpr int kHighest = 200;         // pixels, exclusive
constexpr double kDiscWeight = 0.15;  // a dirty page has more specks than letters

using Profile = std::array<double, kHighest + 20>;

bool CouldBeLetter(const Component& c) {
  return c.height >= kLowest && c.width >= 2 && c.height < kHighest && c.width < 8 * c.height &&
         c.height < 8 * c.width && c.area > 0.12 * c.width * c.height;
}

// Mean of the histogram within 12 % of v, times the square root of v: without it a page's specks
// outweigh its letters.
double Score(const Profile& histogram, int v) {
  const int radius = std::max(1, static_cast<int>(0.12 * v));
  double sum = 0;
  for (int i = std::max(0, v - radius); i <= v + radius && i < static_cast<int>(histogram.size());
       ++i) {
    sum += histogram[i];
  }
  return sum / (2 * radius + 1) * std::sqrt(v);
}

}  // namespace

std::optional<double> LetterHeight(const std::vector<Component>& components) {
  Profile histogram = {};
  int letters = 0;
  for (const Component& c : components) {
    if (!CouldBeLetter(c)) continue;
    ++letters;
    // Weighted by the smaller side: specks and rulings weigh little.
    histogram[c.height] += std::min(c.width, c.height) * (c.disc ? kDiscWeight : 1.0);
  }
  if (letters < 3) return std::nullopt;

  Profile score = {};
  for (int v = kLowest; v < kHighest; ++v) score[v] = Score(histogram, v);
  const auto best = static_cast<int>(std::max_element(score.begin(), score.end()) - score.begin());
  for (int v = kLowest; v < best; ++v) {
    const double around = *std::max_element(&score[std::max(0, v - 3)], &score[v + 4]);
    if (score[v] >= 0.5 * score[best] && score[v] >= around) return v;
  }
  return best;
}

}  // namespace platen::layout
