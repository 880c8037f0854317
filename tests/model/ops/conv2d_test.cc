// Convolutions and resampling of feature maps against their definitions in doubles.
#include "model/ops/conv2d.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/ops/deformable_attention.h"
#include "model/ops/map_resampling.h"

namespace platen {
namespace {

void Fill(std::mt19937& rng, std::span<float> values) {
  std::normal_distribution<float> normal;
  for (float& v : values) v = normal(rng);
}

// A map as some columns of a wider one, whose other columns must not matter.
struct WideMap {
  FeatureMap map;
  MapView view;
  WideMap(std::mt19937& rng, int height, int width, int64_t channels, int64_t extra) {
    const MapView all = map.Shaped(height, width, channels + extra);
    Fill(rng, {all.pixels.data, static_cast<size_t>(all.pixels.rows * all.pixels.cols)});
    view = all.Channels(extra / 2, channels);
  }
};

double At(ConstMapView x, int y, int column, int64_t c) {
  const bool inside = y >= 0 && column >= 0 && y < x.height && column < x.width;
  return inside ? static_cast<double>(x.At(y, column)[c]) : 0.0;
}

struct ConvCase {
  ConvWindow window;
  int height, width;
  int64_t in, out;
};

std::vector<ConvCase> ConvCases() {
  const ConvWindow corner = {.kernel = 2, .stride = 1, .pad_before = 0, .pad_after = 1};
  return {{ConvWindow::Centred(1), 5, 7, 3, 70},
          {ConvWindow::Centred(1, 2), 5, 8, 4, 5},
          {ConvWindow::Centred(3), 1, 1, 2, 3},
          {ConvWindow::Centred(3), 9, 23, 5, 66},
          {ConvWindow::Centred(3, 2), 8, 11, 3, 4},
          {ConvWindow::Centred(5), 6, 4, 2, 9},
          {corner, 7, 5, 4, 6},
          {ConvWindow::Centred(3), 20, 21, 130, 7}};
}

// weights [out][taps][in], as Conv2d wants them.
double ExactConv(const ConvCase& c, ConstMapView x, const Mat& weights, float bias, int y,
                 int column, int64_t out) {
  double sum = static_cast<double>(bias);
  for (int tap = 0; tap < c.window.taps(); ++tap) {
    const int in_y = y * c.window.stride - c.window.pad_before + tap / c.window.kernel;
    const int in_x = column * c.window.stride - c.window.pad_before + tap % c.window.kernel;
    for (int64_t i = 0; i < c.in; ++i) {
      sum += At(x, in_y, in_x, i) * static_cast<double>(weights.View().Row(out)[tap * c.in + i]);
    }
  }
  return sum;
}

TEST(Conv2d, IsTheSumOverItsWindowWithEveryTableAndNumberOfThreads) {
  std::mt19937 rng(1);
  for (const ConvCase& c : ConvCases()) {
    SCOPED_TRACE("kernel " + std::to_string(c.window.kernel) + " stride " +
                 std::to_string(c.window.stride) + " map " + std::to_string(c.height) + "x" +
                 std::to_string(c.width));
    const WideMap x(rng, c.height, c.width, c.in, 6);
    Mat weights(c.out, c.window.taps() * c.in), bias(1, c.out);
    Fill(rng, weights.span());
    Fill(rng, bias.span());
    const Conv2d conv(c.window, Linear::Pack(Precision::kF32, weights.View(), bias.span()));
    const int height = c.window.OutputSide(c.height), width = c.window.OutputSide(c.width);
    const auto run = [&](const KernelTable& table, int threads) {
      WideMap y(rng, height, width, c.out, 2);
      LinearWorkspace ws;
      tbb::task_arena arena(threads);
      arena.execute([&] { conv.Apply(table, x.view, y.view, Linear::Mode::kRelu, ws); });
      std::vector<float> values;
      for (int64_t p = 0; p < y.view.pixels.rows; ++p) {
        values.insert(values.end(), y.view.pixels.Row(p), y.view.pixels.Row(p) + c.out);
      }
      return values;
    };
    const std::vector<float> expected = run(*FindKernels("scalar"), 1);
    size_t at = 0;
    for (int y = 0; y < height; ++y) {
      for (int column = 0; column < width; ++column) {
        for (int64_t out = 0; out < c.out; ++out, ++at) {
          const double exact =
              std::max(0.0, ExactConv(c, x.view, weights, bias.data()[out], y, column, out));
          ASSERT_NEAR(expected[at], exact, 1e-5 * (10 + std::abs(exact)))
              << y << "," << column << "," << out;
        }
      }
    }
    for (const char* name : kKernelNames) {
      const KernelTable* table = FindKernels(name);
      if (table == nullptr) continue;
      EXPECT_EQ(run(*table, 3), expected) << name;
    }
  }
}

TEST(DepthwiseConv2d, IsTheSumOverItsWindowOfEveryChannelByItself) {
  std::mt19937 rng(2);
  for (const ConvCase& c : ConvCases()) {
    const WideMap x(rng, c.height, c.width, c.in, 4);
    std::vector<float> weights(static_cast<size_t>(c.window.taps() * c.in));
    std::vector<float> bias(static_cast<size_t>(c.in));
    Fill(rng, weights);
    Fill(rng, bias);
    const DepthwiseConv2d conv(c.window, weights, bias);
    WideMap y(rng, c.window.OutputSide(c.height), c.window.OutputSide(c.width), c.in, 2);
    for (const auto activation :
         {DepthwiseConv2d::Activation::kNone, DepthwiseConv2d::Activation::kRelu}) {
      conv.Apply(x.view, y.view, activation);
      for (int row = 0; row < y.view.height; ++row) {
        for (int column = 0; column < y.view.width; ++column) {
          for (int64_t i = 0; i < c.in; ++i) {
            double exact = bias[static_cast<size_t>(i)];
            for (int tap = 0; tap < c.window.taps(); ++tap) {
              exact +=
                  At(x.view, row * c.window.stride - c.window.pad_before + tap / c.window.kernel,
                     column * c.window.stride - c.window.pad_before + tap % c.window.kernel, i) *
                  weights[static_cast<size_t>(tap * c.in + i)];
            }
            if (activation == DepthwiseConv2d::Activation::kRelu) exact = std::max(exact, 0.0);
            ASSERT_NEAR(y.view.At(row, column)[i], exact, 1e-5 * (5 + std::abs(exact)));
          }
        }
      }
    }
  }
}

TEST(MaxPool2x2, SeesZerosBehindTheLastRowAndColumn) {
  std::mt19937 rng(3);
  const WideMap x(rng, 4, 6, 5, 2);
  WideMap y(rng, 4, 6, 5, 2);
  MaxPool2x2(x.view, y.view);
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 6; ++column) {
      for (int64_t c = 0; c < 5; ++c) {
        const double most =
            std::max({At(x.view, row, column, c), At(x.view, row, column + 1, c),
                      At(x.view, row + 1, column, c), At(x.view, row + 1, column + 1, c)});
        EXPECT_EQ(y.view.At(row, column)[c], most) << row << "," << column;
      }
    }
  }
}

TEST(Upsampling, NearestRepeatsAndBilinearLiesBetweenTheCentres) {
  std::mt19937 rng(4);
  const WideMap x(rng, 3, 5, 4, 2);
  WideMap nearest(rng, 6, 10, 4, 2), bilinear(rng, 6, 10, 4, 2), added(rng, 6, 10, 4, 2);
  WideMap before(rng, 6, 10, 4, 2);
  CopyMap(added.view, before.view);
  UpsampleNearest2x(x.view, nearest.view);
  UpsampleBilinear2x(x.view, bilinear.view);
  UpsampleBilinear2x(x.view, added.view, Upsampled::kAdded);
  const auto inside = [](double at, int size) { return std::clamp(at, 0.0, size - 1.0); };
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 10; ++column) {
      const double y = inside((row + 0.5) / 2 - 0.5, 3), h = inside((column + 0.5) / 2 - 0.5, 5);
      const int y0 = static_cast<int>(y), x0 = static_cast<int>(h);
      const int y1 = std::min(y0 + 1, 2), x1 = std::min(x0 + 1, 4);
      for (int64_t c = 0; c < 4; ++c) {
        EXPECT_EQ(nearest.view.At(row, column)[c], x.view.At(row / 2, column / 2)[c]);
        const double top =
            At(x.view, y0, x0, c) * (1 - (h - x0)) + At(x.view, y0, x1, c) * (h - x0);
        const double bottom =
            At(x.view, y1, x0, c) * (1 - (h - x0)) + At(x.view, y1, x1, c) * (h - x0);
        const double exact = top * (1 - (y - y0)) + bottom * (y - y0);
        EXPECT_NEAR(bilinear.view.At(row, column)[c], exact, 1e-6);
        EXPECT_EQ(added.view.At(row, column)[c],
                  before.view.At(row, column)[c] + bilinear.view.At(row, column)[c]);
      }
    }
  }
}

// Bilinear between the centres of pixels, zeros outside.
double ExactSample(ConstMatView values, int64_t first, const MapSize& size, int64_t column,
                   double x, double y) {
  double sum = 0;
  for (int row = 0; row < size.height; ++row) {
    for (int at = 0; at < size.width; ++at) {
      const double share =
          std::max(0.0, 1 - std::abs(x - at)) * std::max(0.0, 1 - std::abs(y - row));
      sum += share * values.Row(first + int64_t{row} * size.width + at)[column];
    }
  }
  return sum;
}

TEST(DeformableAttention, IsTheWeightedSumOfSamplesOfEveryHead) {
  std::mt19937 rng(5);
  const std::vector<MapSize> levels = {{6, 4}, {3, 2}, {1, 1}};
  const DeformableShape shape = {.heads = 2, .points = 3, .levels = levels};
  const int64_t queries = 19, d = 5, samples = shape.heads * shape.samples();
  Mat values(24 + 6 + 1, shape.heads * d), offsets(queries, 2 * samples), logits(queries, samples);
  Mat boxes(queries, 4), out(queries, shape.heads * d);
  Fill(rng, values.span());
  Fill(rng, offsets.span());
  for (float& v : offsets.span()) v *= 4;  // some leave the map
  Fill(rng, logits.span());
  std::uniform_real_distribution<float> share(0, 1);
  for (float& v : boxes.span()) v = share(rng);
  DeformableAttention(shape, values.View(), {offsets.View(), logits.View(), boxes.View()},
                      out.View());
  for (int64_t q = 0; q < queries; ++q) {
    const float* box = boxes.View().Row(q);
    for (int64_t head = 0; head < shape.heads; ++head) {
      double total = 0;
      std::vector<double> exact(static_cast<size_t>(d));
      int64_t sample = head * shape.samples(), first = 0;
      for (const MapSize& size : levels) {
        for (int point = 0; point < shape.points; ++point, ++sample) {
          const double weight = std::exp(static_cast<double>(logits.View().Row(q)[sample]));
          const float* offset = offsets.View().Row(q) + 2 * sample;
          const double x = (box[0] + offset[0] / 3.0 * box[2] / 2) * size.width - 0.5;
          const double y = (box[1] + offset[1] / 3.0 * box[3] / 2) * size.height - 0.5;
          for (int64_t c = 0; c < d; ++c) {
            exact[static_cast<size_t>(c)] +=
                weight * ExactSample(values.View(), first, size, head * d + c, x, y);
          }
          total += weight;
        }
        first += size.pixels();
      }
      for (int64_t c = 0; c < d; ++c) {
        ASSERT_NEAR(out.View().Row(q)[head * d + c], exact[static_cast<size_t>(c)] / total, 2e-5)
            << q << "," << head << "," << c;
      }
    }
  }
}

TEST(DeformableAttention, PlacesThatAreNoNumbersOrFarAwayAreNotRead) {
  const std::vector<MapSize> levels = {{2, 2}};
  const DeformableShape shape = {.heads = 1, .points = 2, .levels = levels};
  Mat values(4, 1), offsets(1, 4), logits(1, 2), boxes(1, 4), out(1, 1);
  for (float& v : values.span()) v = 1;
  const float far[] = {NAN, 0, 1e30F, -1e30F};
  std::copy(std::begin(far), std::end(far), offsets.data());
  std::fill_n(logits.data(), 2, 0.0F);
  std::fill_n(boxes.data(), 4, 0.5F);
  DeformableAttention(shape, values.View(), {offsets.View(), logits.View(), boxes.View()},
                      out.View());
  EXPECT_EQ(out.data()[0], 0);
}

}  // namespace
}  // namespace platen
