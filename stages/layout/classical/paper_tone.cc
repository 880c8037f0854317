#include "stages/layout/classical/paper_tone.h"

#include <algorithm>
#include <array>
#include <vector>

namespace platen::layout {
namespace {

// Shares of the lightest tenth's tone.
constexpr double kLight = 0.85;      // cells that are paper without further evidence
constexpr double kDarkest = 0.35;    // paper in the deepest shadow
constexpr double kOnSurface = 0.05;  // of the surface: how far its cells may lie beside it
constexpr int kRounds = 12;          // each leads the surface a little further into a shadow
constexpr double kFewest = 0.6;      // share of the cells that lie on it in the end
constexpr int kTerms = 6;

using Row = std::array<double, kTerms>;

// The terms of a quadratic surface at a cell, -1 to 1 across and down.
Row TermsAt(int x, int y, cv::Size grid) {
  const double u = 2.0 * (x + 0.5) / grid.width - 1, v = 2.0 * (y + 0.5) / grid.height - 1;
  return {1, u, v, u * u, u * v, v * v};
}

// The surface with the least squares through the cells of `mask`; empty if they do not fix one.
cv::Mat Fit(const cv::Mat& tones, const cv::Mat& mask) {
  cv::Mat normal(kTerms, kTerms, CV_64F, cv::Scalar(0)), right(kTerms, 1, CV_64F, cv::Scalar(0));
  for (int y = 0; y < tones.rows; ++y) {
    for (int x = 0; x < tones.cols; ++x) {
      if (mask.at<uint8_t>(y, x) == 0) continue;
      const Row terms = TermsAt(x, y, tones.size());
      for (int i = 0; i < kTerms; ++i) {
        right.at<double>(i) += terms[i] * tones.at<uint8_t>(y, x);
        for (int j = 0; j < kTerms; ++j) normal.at<double>(i, j) += terms[i] * terms[j];
      }
    }
  }
  cv::Mat weights;
  if (!cv::solve(normal, right, weights, cv::DECOMP_CHOLESKY)) return {};
  cv::Mat surface(tones.size(), CV_32F);
  for (int y = 0; y < tones.rows; ++y) {
    for (int x = 0; x < tones.cols; ++x) {
      const Row terms = TermsAt(x, y, tones.size());
      double sum = 0;
      for (int i = 0; i < kTerms; ++i) sum += weights.at<double>(i) * terms[i];
      surface.at<float>(y, x) = static_cast<float>(sum);
    }
  }
  return surface;
}

double LightestTenth(const cv::Mat& tones) {
  std::vector<uint8_t> sorted(tones.begin<uint8_t>(), tones.end<uint8_t>());
  const auto white = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() * 9 / 10);
  std::nth_element(sorted.begin(), white, sorted.end());
  return *white;
}

}  // namespace

cv::Mat PaperTone(const cv::Mat& tones) {
  const double white = LightestTenth(tones);
  cv::Mat even(tones.size(), CV_32F, cv::Scalar(white));
  cv::Mat exact, surface;
  tones.convertTo(exact, CV_32F);
  cv::Mat on_surface = tones > kLight * white;
  for (int round = 0; round < kRounds; ++round) {
    surface = Fit(tones, on_surface);
    if (surface.empty()) return even;
    surface = cv::max(surface, kDarkest * white);
    on_surface = cv::abs(exact - surface) < kOnSurface * surface;
  }
  if (cv::countNonZero(on_surface) < kFewest * static_cast<double>(tones.total())) return even;
  return cv::min(surface, white);
}

}  // namespace platen::layout
