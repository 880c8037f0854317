// The int8 product on every table against its definition in integers, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "model/kernels/gemm_schedule.h"
#include "model/kernels/kernels.h"
#include "tests/model/kernels/framed.h"

namespace platen {
namespace {

// Random operands of one job, extreme values included. Rows of activations and of the output lie
// further apart than they are long; what lies between is 99 and NaN.
struct Job {
  int rows, k, group_size, columns;
  Epilogue epilogue;
  bool with_bias;
  int k_padded, groups, a_stride, c_stride;
  std::vector<int8_t> a, w;  // a [rows][a_stride]; w [num_panels * 64][k_padded]
  std::vector<uint8_t> panels;
  std::vector<float> a_scales, w_scales, bias;
  std::vector<int32_t> corrections;

  Job(std::mt19937& rng, int rows_, int k_, int group, int columns_, Epilogue e, bool bias_too)
      : rows(rows_), k(k_), group_size(group), columns(columns_), epilogue(e), with_bias(bias_too) {
    k_padded = (k + 3) / 4 * 4;
    groups = (k_padded + group_size - 1) / group_size;
    a_stride = k_padded + 5;
    c_stride = columns + 3;
    std::uniform_int_distribution<int> byte(-127, 127);
    const auto draw = [&] {
      return static_cast<int8_t>(rng() % 8 == 0 ? (rng() % 2 == 0 ? 127 : -127) : byte(rng));
    };
    a.assign(static_cast<size_t>(rows * a_stride), 99);
    w.resize(static_cast<size_t>(num_panels() * 64 * k_padded));
    for (int8_t& x : w) x = draw();  // padding weights too: padding activations are 0
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < k_padded; ++i) a[r * a_stride + i] = i < k ? draw() : int8_t{0};
    }
    FillScales(rng);
    PackWeights();
    SumActivations();
  }

  int per_panel() const { return epilogue == Epilogue::kSiluMul ? 32 : 64; }
  int num_panels() const { return (columns + per_panel() - 1) / per_panel(); }

  void FillScales(std::mt19937& rng) {
    std::uniform_real_distribution<float> scale(0.001F, 0.02F);
    a_scales.resize(static_cast<size_t>(rows * groups));
    w_scales.resize(static_cast<size_t>(num_panels() * 64 * groups));
    bias.resize(static_cast<size_t>(num_panels() * 64));
    for (std::vector<float>* values : {&a_scales, &w_scales, &bias}) {
      for (float& x : *values) x = scale(rng);
    }
  }
  void PackWeights() {
    panels.resize(w.size());
    for (int n = 0; n < num_panels() * 64; ++n) {
      for (int i = 0; i < k_padded; ++i) {
        const int at = ((n / 64) * (k_padded / 4) + i / 4) * 256 + n % 64 * 4 + i % 4;
        panels[static_cast<size_t>(at)] = static_cast<uint8_t>(w[n * k_padded + i] ^ 0x80);
      }
    }
  }
  void SumActivations() {
    corrections.assign(static_cast<size_t>(rows * groups), 0);
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < k_padded; ++i) {
        corrections[r * groups + i / group_size] -= 128 * a[r * a_stride + i];
      }
    }
  }

  // The meaning, in plain integers and std::fma. `place` counts the 64 places of the panels.
  float Value(int r, int place) const {
    float value = 0.0F;
    for (int g = 0; g < groups; ++g) {
      int32_t dot = 0;
      for (int i = g * group_size; i < std::min(k_padded, (g + 1) * group_size); ++i) {
        dot += a[r * a_stride + i] * w[place * k_padded + i];
      }
      const float w_scale = w_scales[((place / 64) * groups + g) * 64 + place % 64];
      value = std::fma(static_cast<float>(dot), a_scales[r * groups + g] * w_scale, value);
    }
    return with_bias ? value + bias[place] : value;
  }

  // Rows [first, first + count), on top of `before` [rows][c_stride].
  Framed Run(const KernelTable& table, const Framed& before, int first, int count) const {
    Framed out = before;
    GemmS8Job job;
    job.a = a.data() + first * a_stride;
    job.a_stride = a_stride;
    job.a_scales = a_scales.data() + first * groups;
    job.a_corrections = corrections.data() + first * groups;
    job.rows = count;
    job.k_padded = k_padded;
    job.group_size = group_size;
    job.groups = groups;
    job.panels = panels.data();
    job.w_scales = w_scales.data();
    job.num_panels = num_panels();
    job.bias = with_bias ? bias.data() : nullptr;
    job.c = out.data() + first * c_stride;
    job.c_stride = c_stride;
    job.columns = columns;
    job.epilogue = epilogue;
    table.gemm_s8(job);
    return out;
  }
};

// Output of random values, NaN between the rows.
Framed Before(std::mt19937& rng, const Job& job) {
  Framed before(rng, static_cast<size_t>(job.rows * job.c_stride), 1);
  for (int r = 0; r < job.rows; ++r) {
    for (int n = job.columns; n < job.c_stride; ++n) {
      before[static_cast<size_t>(r * job.c_stride + n)] = kNan;
    }
  }
  return before;
}

void ExpectTheDefinition(const Job& job, const Framed& before, const Framed& result) {
  for (int r = 0; r < job.rows; ++r) {
    for (int n = 0; n < job.columns; ++n) {
      const size_t at = static_cast<size_t>(r * job.c_stride + n);
      const float value = job.Value(r, n);
      const float expected = job.epilogue == Epilogue::kAdd ? before.data()[at] + value : value;
      ASSERT_EQ(result.data()[at], expected) << "row " << r << " column " << n;
    }
  }
}

// All tables with each of their schedules in use.
std::vector<KernelTable> TablesWithEverySchedule() {
  std::vector<KernelTable> tables;
  for (const KernelTable* table : Tables()) {
    tables.push_back(*table);
    for (int i = 1; i < table->schedules.count; ++i) tables.push_back(WithSchedule(*table, i));
  }
  return tables;
}

// Every table equals the scalar one, with all rows at once and with each alone.
void ExpectSameBitsEverywhere(std::mt19937& rng, const Job& job, bool rows_alone) {
  const Framed before = Before(rng, job);
  const Framed expected = job.Run(*FindKernels("scalar"), before, 0, job.rows);
  if (job.epilogue != Epilogue::kSiluMul) ExpectTheDefinition(job, before, expected);
  for (const KernelTable& table : TablesWithEverySchedule()) {
    SCOPED_TRACE(std::string(table.name) + " schedule " + std::to_string(table.schedule) +
                 " rows " + std::to_string(job.rows) + " k " + std::to_string(job.k) + " group " +
                 std::to_string(job.group_size) + " columns " + std::to_string(job.columns) +
                 " epilogue " + std::to_string(static_cast<int>(job.epilogue)));
    const Framed actual = job.Run(table, before, 0, job.rows);
    EXPECT_TRUE(actual.SameBits(expected));
    EXPECT_TRUE(actual.FrameUntouched());
    if (!rows_alone) continue;
    Framed alone = before;
    for (int r = 0; r < job.rows; ++r) alone = job.Run(table, alone, r, 1);
    EXPECT_TRUE(alone.SameBits(expected)) << "rows one by one";
  }
}

TEST(Int8Kernel, FewRowsAreTheIntegerDefinitionOnEveryTable) {
  std::mt19937 rng(6);
  for (int rows = 1; rows <= 14; ++rows) {
    for (const int group_size : {16, 64, 256}) {
      for (const Epilogue e : {Epilogue::kStore, Epilogue::kAdd, Epilogue::kSiluMul}) {
        const bool with_bias = (rows + group_size / 16) % 2 == 0;
        const Job job(rng, rows, 3 + rows * 29, group_size, 7 + rows * 19, e, with_bias);
        ExpectSameBitsEverywhere(rng, job, true);
      }
    }
  }
}

TEST(Int8Kernel, EveryShapeOfRowBlockIsTheIntegerDefinitionOnEveryTable) {
  std::mt19937 rng(16);
  for (const int rows : {15, 16, 17, 18, 23, 24, 25, 31, 32, 33, 35, 48, 63, 64, 65, 97}) {
    for (const Epilogue e : {Epilogue::kStore, Epilogue::kAdd, Epilogue::kSiluMul}) {
      // One whole group; groups of whole steps of 64 and a short last one; a ragged last one.
      for (const auto& [k, group_size] :
           {std::pair{128, 128}, std::pair{448, 128}, std::pair{173, 64}}) {
        ExpectSameBitsEverywhere(rng, Job(rng, rows, k, group_size, 75, e, rows % 2 == 0), false);
      }
    }
  }
}

TEST(Int8Kernel, MoreRowsThanAChunkAreTheIntegerDefinitionOnEveryTable) {
  std::mt19937 rng(17);
  for (const int rows : {192, 193, 211}) {
    for (const bool with_bias : {true, false}) {
      const Job job(rng, rows, 320, 64, 64, Epilogue::kStore, with_bias);
      ExpectSameBitsEverywhere(rng, job, false);
    }
  }
}

TEST(Int8Kernel, EveryGroupSizeAndDepthIsTheIntegerDefinitionOnEveryTable) {
  std::mt19937 rng(18);
  for (const int group_size : {4, 60, 64, 192, 320, 512, 1024}) {
    for (const int k : {1, 4, 15, 63, 64, 65, 127, 128, 255, 256, 257, 511, 513, 640, 1100}) {
      if (k / group_size > 40) continue;
      for (const int rows : {3, 20}) {
        ExpectSameBitsEverywhere(rng, Job(rng, rows, k, group_size, 70, Epilogue::kStore, false),
                                 false);
      }
    }
  }
}

TEST(Int8Kernel, TheLargestSumsDoNotOverflow) {
  std::mt19937 rng(7);
  constexpr int kDepth = 65536;
  for (const int rows : {2, 20}) {
    Job job(rng, rows, kDepth, kDepth, 64, Epilogue::kStore, false);
    for (int r = 0; r < rows; ++r) {
      const auto value = static_cast<int8_t>(r % 2 == 0 ? 127 : -127);
      std::fill_n(job.a.begin() + r * job.a_stride, kDepth, value);
    }
    job.SumActivations();
    std::fill(job.w.begin(), job.w.end(), static_cast<int8_t>(127));
    job.PackWeights();
    const Framed before(rng, static_cast<size_t>(rows * job.c_stride), 0);
    for (const KernelTable* table : Tables()) {
      const Framed out = job.Run(*table, before, 0, rows);
      for (int r = 0; r < rows; ++r) {
        for (int n = 0; n < 64; ++n) {
          ASSERT_EQ(out.data()[r * job.c_stride + n], job.Value(r, n)) << table->name << " " << r;
        }
      }
    }
  }
}

// A row that was quantised, beside its meaning.
struct QuantizedRow {
  std::vector<int8_t> q;
  std::vector<float> scales;
  std::vector<int32_t> corrections;

  QuantizedRow(const KernelTable& table, const float* x, int k, int group)
      : q(static_cast<size_t>((k + 3) / 4 * 4), 99),
        scales((q.size() + static_cast<size_t>(group) - 1) / static_cast<size_t>(group), -1.0F),
        corrections(scales.size(), -1) {
    table.quantize_row(x, k, static_cast<int>(q.size()), group, q.data(), scales.data(),
                       corrections.data());
  }
  void ExpectGroup(size_t g, const float* x, int k, int group, const std::string& what) const {
    const int begin = static_cast<int>(g) * group;
    float absmax = 0;
    for (int i = begin; i < std::min(k, begin + group); ++i) {
      absmax = std::max(absmax, std::abs(x[i]));
    }
    EXPECT_EQ(scales[g], absmax / 127.0F) << what;
    const float inverse = absmax > 1e-30F ? 127.0F / absmax : 0.0F;
    int sum = 0;
    for (int i = begin; i < std::min(static_cast<int>(q.size()), begin + group); ++i) {
      const int expected = i < k ? static_cast<int>(std::nearbyint(x[i] * inverse)) : 0;
      EXPECT_EQ(q[static_cast<size_t>(i)], expected) << what << " at " << i;
      sum += expected;
    }
    EXPECT_EQ(corrections[g], -128 * sum) << what;
  }
};

std::vector<int> RowLengths() {
  std::vector<int> lengths(70);
  std::iota(lengths.begin(), lengths.end(), 1);
  lengths.insert(lengths.end(), {127, 128, 129, 191, 255, 256, 257, 300, 512, 577});
  return lengths;
}

TEST(QuantizeRow, RoundsToEvenPerGroup) {
  std::mt19937 rng(8);
  for (const int k : RowLengths()) {
    for (const int group : {16, 64, 256}) {
      for (const float size : {2.0F, 1e-36F, 1e30F}) {
        Framed x(rng, static_cast<size_t>(k), 1, size);
        x[0] = 127.0F * size;  // one to one, so that halves appear
        for (int i = 1; i < k; i += 3)
          x[static_cast<size_t>(i)] = size * (static_cast<float>(i % 120) + 0.5F);
        for (const KernelTable* table : Tables()) {
          const QuantizedRow row(*table, x.data(), k, group);
          const std::string what = std::string(table->name) + " k " + std::to_string(k) +
                                   " group " + std::to_string(group);
          for (size_t g = 0; g < row.scales.size(); ++g)
            row.ExpectGroup(g, x.data(), k, group, what);
        }
      }
    }
  }
}

TEST(QuantizeRow, MarksGroupsThatAreNotFinite) {
  std::mt19937 rng(9);
  for (const int k : RowLengths()) {
    for (const float bad : {kNan, -kNan, std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
      Framed x(rng, static_cast<size_t>(k), 1, 2.0F);
      const auto at = static_cast<size_t>(rng() % static_cast<unsigned>(k));
      x[at] = bad;
      for (const KernelTable* table : Tables()) {
        const QuantizedRow row(*table, x.data(), k, 128);
        const std::string what = std::string(table->name) + " k " + std::to_string(k);
        for (size_t g = 0; g < row.scales.size(); ++g) {
          if (g == at / 128) {
            EXPECT_TRUE(std::isnan(row.scales[g])) << what;
            EXPECT_EQ(row.corrections[g], 0) << what;
            EXPECT_EQ(row.q[at], 0) << what;
          } else {
            row.ExpectGroup(g, x.data(), k, 128, what);
          }
        }
      }
    }
  }
}

TEST(QuantizeRow, ZerosAreZero) {
  const std::vector<float> zeros(200, 0.0F);
  for (const KernelTable* table : Tables()) {
    const QuantizedRow row(*table, zeros.data(), 200, 128);
    for (size_t g = 0; g < 2; ++g) row.ExpectGroup(g, zeros.data(), 200, 128, table->name);
  }
}

}  // namespace
}  // namespace platen
