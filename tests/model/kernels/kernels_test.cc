// Every kernel table against the scalar one, bit for bit, and the scalar one against plain doubles.
#include "model/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "model/support/bf16.h"
#include "tests/model/kernels/framed.h"

namespace platen {
namespace {

TEST(KernelTables, TheScalarTableAlwaysExistsAndUnknownNamesDoNot) {
  EXPECT_NE(FindKernels("scalar"), nullptr);
  EXPECT_EQ(FindKernels("sse9"), nullptr);
  EXPECT_NE(FindKernels(BestKernels().name), nullptr);
}

// Runs `call` on a copy of `x` with every table; all must equal the scalar result and leave the
// frame alone.
void ExpectSameBits(const Framed& x, const std::function<void(const KernelTable&, float*)>& call,
                    const std::string& what) {
  Framed expected = x;
  call(*FindKernels("scalar"), expected.data());
  EXPECT_TRUE(expected.FrameUntouched()) << "scalar " << what;
  for (const KernelTable* table : Tables()) {
    Framed actual = x;
    call(*table, actual.data());
    EXPECT_TRUE(actual.SameBits(expected)) << table->name << " " << what;
    EXPECT_TRUE(actual.FrameUntouched()) << table->name << " " << what;
  }
}

TEST(ElementwiseKernels, AllTablesGiveTheSameBitsAtEveryLengthAndAlignment) {
  std::mt19937 rng(1);
  for (size_t n = 1; n <= 70; ++n) {
    for (const size_t misalign : {0U, 1U, 5U}) {
      const std::string what =
          "n=" + std::to_string(n) + " misaligned by " + std::to_string(misalign);
      const Framed x(rng, n, misalign, 3.0F);
      const Framed w(rng, n, misalign);
      const Framed b(rng, n, misalign);
      const int count = static_cast<int>(n);
      ExpectSameBits(
          x, [&](const KernelTable& k, float* p) { k.rms_norm(p, w.data(), 1e-5F, count, p); },
          "rms_norm " + what);
      ExpectSameBits(
          x,
          [&](const KernelTable& k, float* p) {
            k.layer_norm(p, w.data(), b.data(), 1e-5F, count, p);
          },
          "layer_norm " + what);
      ExpectSameBits(
          x, [&](const KernelTable& k, float* p) { k.gelu(p, n); }, "gelu " + what);
      ExpectSameBits(
          x, [&](const KernelTable& k, float* p) { k.add(w.data(), n, p); }, "add " + what);
      if (n % 2 != 0) continue;
      ExpectSameBits(
          x, [&](const KernelTable& k, float* p) { k.rope_adjacent(w.data(), b.data(), count, p); },
          "rope_adjacent " + what);
      ExpectSameBits(
          x, [&](const KernelTable& k, float* p) { k.rope_half(w.data(), b.data(), count, p); },
          "rope_half " + what);
    }
  }
}

// Bits of all kinds, among them NaNs whose rounding would carry into the sign.
TEST(ElementwiseKernels, Bf16IsThatOfBf16H) {
  std::mt19937 rng(9);
  std::vector<uint32_t> bits = {0,          0x80000000, 0x2B800000, 0x2B7FFFFF, 0x3F808000,
                                0x3F818000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001,
                                0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000, 0x00000001};
  while (bits.size() < 3000) bits.push_back(static_cast<uint32_t>(rng()));
  std::vector<float> x(bits.size());
  std::memcpy(x.data(), bits.data(), bits.size() * sizeof(float));
  for (const KernelTable* table : Tables()) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{15}, size_t{17}, size_t{50}, x.size()}) {
      constexpr uint16_t kUntouched = 0x1234;
      std::vector<uint16_t> out(n + 20, kUntouched);
      table->to_bf16(x.data(), static_cast<int>(n), out.data());
      for (size_t i = 0; i < out.size(); ++i) {
        ASSERT_EQ(out[i], i < n ? ToBf16(x[i]) : kUntouched)
            << table->name << " " << std::hex << bits[std::min(i, bits.size() - 1)];
      }
    }
  }
}

TEST(ElementwiseKernels, NormsMatchDoubles) {
  std::mt19937 rng(2);
  const KernelTable& k = *FindKernels("scalar");
  for (const int n : {1, 17, 192, 1536}) {
    Framed x(rng, static_cast<size_t>(n), 0, 2.0F);
    Framed w(rng, static_cast<size_t>(n), 0);
    Framed b(rng, static_cast<size_t>(n), 0);
    double squares = 0;
    double mean = 0;
    for (int i = 0; i < n; ++i) {
      squares += static_cast<double>(x[i]) * x[i] / n;
      mean += static_cast<double>(x[i]) / n;
    }
    double variance = 0;
    for (int i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean) / n;
    std::vector<float> rms(static_cast<size_t>(n));
    std::vector<float> layer(static_cast<size_t>(n));
    k.rms_norm(x.data(), w.data(), 1e-5F, n, rms.data());
    k.layer_norm(x.data(), w.data(), b.data(), 1e-5F, n, layer.data());
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(rms[i], x[i] / std::sqrt(squares + 1e-5) * w[i], 4e-6);
      EXPECT_NEAR(layer[i], (x[i] - mean) / std::sqrt(variance + 1e-5) * w[i] + b[i], 4e-6);
    }
  }
}

TEST(ElementwiseKernels, GeluIsTheErfFormOverItsWholeRange) {
  const KernelTable& k = BestKernels();
  for (double x = -12; x <= 12; x += 0.013) {
    float y = static_cast<float>(x);
    k.gelu(&y, 1);
    const double exact =
        0.5 * static_cast<float>(x) * std::erfc(-static_cast<float>(x) / std::sqrt(2.0));
    EXPECT_NEAR(y, exact, 3e-7 * std::max(1.0, std::abs(x))) << x;
  }
}

struct GemmCase {
  int rows, k, columns;
  Epilogue epilogue;
  bool bias;
};

// Panels of random weights; padding columns hold weights too and must not reach the result.
void RunGemm(const KernelTable& table, const GemmCase& c, const Framed& a, ptrdiff_t a_stride,
             const std::vector<float>& panels, const std::vector<float>& bias, Framed& out,
             ptrdiff_t out_stride) {
  const int per_panel = c.epilogue == Epilogue::kSiluMul ? 32 : 64;
  GemmF32Job job;
  job.a = a.data();
  job.a_stride = a_stride;
  job.rows = c.rows;
  job.k = c.k;
  job.panels = panels.data();
  job.num_panels = (c.columns + per_panel - 1) / per_panel;
  job.bias = c.bias ? bias.data() : nullptr;
  job.c = out.data();
  job.c_stride = out_stride;
  job.columns = c.columns;
  job.epilogue = c.epilogue;
  table.gemm_f32(job);
}

double Silu(double x) { return x / (1.0 + std::exp(-x)); }

double ExactElement(const GemmCase& c, const Framed& a, ptrdiff_t a_stride,
                    const std::vector<float>& panels, const std::vector<float>& bias, float old,
                    int row, int column) {
  const int per_panel = c.epilogue == Epilogue::kSiluMul ? 32 : 64;
  const auto dot = [&](int place) {
    double sum = c.bias ? bias[column / per_panel * 64 + place] : 0.0;
    for (int i = 0; i < c.k; ++i) {
      sum += static_cast<double>(a.data()[row * a_stride + i]) *
             panels[(static_cast<size_t>(column / per_panel) * c.k + i) * 64 + place];
    }
    return sum;
  };
  const int place = column % per_panel;
  if (c.epilogue == Epilogue::kSiluMul) return Silu(dot(place)) * dot(place + 32);
  if (c.epilogue == Epilogue::kRelu) return std::max(dot(place), 0.0);
  if (c.epilogue == Epilogue::kSilu) return Silu(dot(place));
  return dot(place) + (c.epilogue == Epilogue::kAdd ? old : 0.0);
}

TEST(GemmKernel, MatchesDoublesAndAllTablesGiveTheSameBits) {
  std::mt19937 rng(3);
  std::vector<GemmCase> cases;
  for (int rows = 1; rows <= 14; ++rows) {
    for (const Epilogue e :
         {Epilogue::kStore, Epilogue::kAdd, Epilogue::kSiluMul, Epilogue::kRelu, Epilogue::kSilu}) {
      cases.push_back({rows, 1 + rows * 7, 5 + rows * 23, e, rows % 2 == 0});
    }
  }
  // More k, rows and panels than are multiplied in one go.
  cases.push_back({3, 769, 70, Epilogue::kAdd, true});
  cases.push_back({8, 1601, 130, Epilogue::kStore, true});
  cases.push_back({197, 773, 290, Epilogue::kStore, false});
  cases.push_back({195, 1537, 170, Epilogue::kSiluMul, true});
  for (const GemmCase& c : cases) {
    SCOPED_TRACE("rows " + std::to_string(c.rows) + " k " + std::to_string(c.k) + " columns " +
                 std::to_string(c.columns) + " epilogue " +
                 std::to_string(static_cast<int>(c.epilogue)));
    const ptrdiff_t a_stride = c.k + 3;
    const ptrdiff_t out_stride = c.columns + 5;
    const Framed a(rng, static_cast<size_t>(c.rows * a_stride - 3), 1);
    std::normal_distribution<float> normal;
    std::vector<float> panels(static_cast<size_t>((c.columns + 31) / 32 * c.k) * 64);
    std::vector<float> bias(static_cast<size_t>((c.columns + 31) / 32) * 64);
    // Sums of about 1, so that one absolute tolerance fits every k and both factors of silu * up.
    for (float& v : panels) v = normal(rng) / std::sqrt(static_cast<float>(c.k));
    for (float& v : bias) v = normal(rng);
    const Framed before(rng, static_cast<size_t>(c.rows * out_stride - 5), 3);
    Framed expected = before;
    RunGemm(*FindKernels("scalar"), c, a, a_stride, panels, bias, expected, out_stride);
    EXPECT_TRUE(expected.FrameUntouched());
    for (int r = 0; r < c.rows; ++r) {
      for (int n = 0; n < c.columns; ++n) {
        const size_t at = static_cast<size_t>(r * out_stride + n);
        const double exact = ExactElement(c, a, a_stride, panels, bias, before.data()[at], r, n);
        ASSERT_NEAR(expected.data()[at], exact, 2e-5 * (1.0 + std::abs(exact))) << r << "," << n;
      }
    }
    for (const KernelTable* table : Tables()) {
      Framed actual = before;
      RunGemm(*table, c, a, a_stride, panels, bias, actual, out_stride);
      EXPECT_TRUE(actual.SameBits(expected)) << table->name;
      EXPECT_TRUE(actual.FrameUntouched()) << table->name;
    }
  }
}

// silu(x) * 1, by way of x and 1 times unit weights.
std::vector<float> SiluOf(const KernelTable& table, const std::vector<float>& x) {
  std::vector<float> a, out(x.size());
  for (const float value : x) a.insert(a.end(), {value, 1.0F});
  std::vector<float> panel(2 * 64, 0.0F);
  panel[0] = 1.0F;        // gate of column 0: x
  panel[64 + 32] = 1.0F;  // its other factor: 1
  GemmF32Job job;
  job.a = a.data();
  job.a_stride = 2;
  job.rows = static_cast<int>(x.size());
  job.k = 2;
  job.panels = panel.data();
  job.num_panels = 1;
  job.c = out.data();
  job.c_stride = 1;
  job.columns = 1;
  job.epilogue = Epilogue::kSiluMul;
  table.gemm_f32(job);
  return out;
}

TEST(GemmKernel, SiluIsAccurateEverywhere) {
  std::vector<float> x = {0.0F, -0.0F, 1e-30F, -1e-30F, 1e30F, 3e38F};
  for (float v = -68.0F; v < 140.0F; v += 0.0371F) x.push_back(v);
  const std::vector<float> expected = SiluOf(*FindKernels("scalar"), x);
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = Silu(x[i]);
    ASSERT_NEAR(expected[i], exact, 1e-6 * std::abs(exact) * std::max(1.0F, std::abs(x[i]) / 8))
        << x[i];
  }
  for (const float low : {-70.0F, -1000.0F, -1e20F}) {
    EXPECT_NEAR(SiluOf(*FindKernels("scalar"), {low})[0], 0.0, 2e-30 * -low) << low;
  }
  x.insert(x.end(), {kNan, -1e20F, -90.0F});
  for (const KernelTable* table : Tables()) {
    const std::vector<float> actual = SiluOf(*table, x), meant = SiluOf(*FindKernels("scalar"), x);
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i])) {
        EXPECT_TRUE(std::isnan(actual[i])) << table->name;
      } else {
        EXPECT_EQ(actual[i], meant[i]) << table->name << " " << x[i];
      }
    }
  }
}

TEST(GemmKernel, ARowHasTheSameBitsAloneAndAmongOthers) {
  std::mt19937 rng(4);
  const GemmCase all{33, 97, 150, Epilogue::kStore, false};
  const Framed a(rng, 33 * 97, 0);
  std::vector<float> panels(3 * 97 * 64);
  std::normal_distribution<float> normal;
  for (float& v : panels) v = normal(rng);
  for (const KernelTable* table : Tables()) {
    Framed together(rng, 33 * 150, 0);
    RunGemm(*table, all, a, 97, panels, {}, together, 150);
    for (int first = 0; first < 33; ++first) {
      for (int rows = 1; rows <= 33 - first; rows += 5) {
        GemmCase part = all;
        part.rows = rows;
        Framed slice(rng, static_cast<size_t>(rows) * 97, 0);
        std::memcpy(slice.data(), a.data() + first * 97, slice.size() * sizeof(float));
        Framed out(rng, static_cast<size_t>(rows) * 150, 0);
        RunGemm(*table, part, slice, 97, panels, {}, out, 150);
        ASSERT_EQ(
            std::memcmp(out.data(), together.data() + first * 150, out.size() * sizeof(float)), 0)
            << table->name << " rows " << first << " + " << rows;
      }
    }
  }
}

TEST(GemmKernel, ARowHasTheSameBitsWhateverIsMultipliedInOneGo) {
  std::mt19937 rng(14);
  const GemmCase all{200, 1600, 290, Epilogue::kStore, false};
  const Framed a(rng, 200 * 1600, 0);
  std::vector<float> panels(5 * 1600 * 64);
  std::normal_distribution<float> normal;
  for (float& v : panels) v = normal(rng);
  for (const KernelTable* table : Tables()) {
    Framed together(rng, 200 * 290, 0);
    RunGemm(*table, all, a, 1600, panels, {}, together, 290);
    for (const int row : {0, 5, 191, 192, 199}) {
      GemmCase one = all;
      one.rows = 1;
      Framed alone(rng, 1600, 0);
      std::memcpy(alone.data(), a.data() + row * 1600, alone.size() * sizeof(float));
      Framed out(rng, 290, 0);
      RunGemm(*table, one, alone, 1600, panels, {}, out, 290);
      EXPECT_EQ(std::memcmp(out.data(), together.data() + row * 290, out.size() * sizeof(float)), 0)
          << table->name << " row " << row;
    }
  }
}

TEST(SelectKernel, PicksTheLargestLowestIdOnTiesAndItsProbability) {
  for (const KernelTable* table : Tables()) {
    for (int n = 1; n <= 67; ++n) {
      std::vector<float> logits(static_cast<size_t>(n), 1.0F);
      logits[static_cast<size_t>(n / 2)] = 3.0F;
      logits[static_cast<size_t>(n - 1)] = 3.0F;
      const Selection s = table->select(logits.data(), n);
      EXPECT_EQ(s.index, n / 2) << table->name;
      const double others = (n - 2) * std::exp(-2.0);
      const double expected = n == 1           ? 1.0
                              : n / 2 == n - 1 ? 1.0 / (1.0 + (n - 1) * std::exp(-2.0))
                                               : 1.0 / (2.0 + others);
      EXPECT_NEAR(s.probability, expected, 1e-6) << table->name << " n " << n;
      logits[static_cast<size_t>(n / 3)] = kNan;
      EXPECT_EQ(table->select(logits.data(), n).index, -1) << table->name;
    }
  }
}

// The largest anywhere, in the same place twice, and a NaN anywhere.
TEST(SelectKernel, FindsTheFirstOfTheLargestInLongRows) {
  std::mt19937 rng(11);
  constexpr int kCount = 3000;
  Framed logits(rng, kCount, 0);
  for (const KernelTable* table : Tables()) {
    for (const int at : {0, 5, 1023, 1024, 1025, 2047, 2048, 2990, 2999}) {
      for (const int other : {0, 1023, 1024, 2999}) {
        Framed x = logits;
        x[static_cast<size_t>(at)] = 50.0F;
        x[static_cast<size_t>(other)] = 50.0F;
        EXPECT_EQ(table->select(x.data(), kCount).index, std::min(at, other)) << table->name;
        EXPECT_EQ(table->select(x.data(), kCount).probability,
                  FindKernels("scalar")->select(x.data(), kCount).probability)
            << table->name;
        x[static_cast<size_t>(other)] = kNan;
        EXPECT_EQ(table->select(x.data(), kCount).index, -1) << table->name;
      }
    }
    const float infinity = std::numeric_limits<float>::infinity();
    Framed x = logits;
    x[7] = -infinity;
    x[2000] = 9.0F;
    EXPECT_EQ(table->select(x.data(), kCount).index, 2000) << table->name;
    const std::vector<float> nothing(kCount, -infinity);
    EXPECT_EQ(table->select(nothing.data(), kCount).index, -1) << table->name;
  }
}

}  // namespace
}  // namespace platen
