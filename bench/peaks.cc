#include "bench/peaks.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace platen::bench {
namespace {

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Best rate of reading 768 MiB, three times.
double MeasureDramRead() {
  constexpr size_t kWords = size_t{96} << 20;
  std::vector<uint64_t> memory(kWords, 1);
  double best = 0;
  uint64_t sum = 0;
  for (int run = 0; run < 3; ++run) {
    const double start = SecondsNow();
    uint64_t part[8] = {};
    for (size_t i = 0; i < kWords; i += 8) {
      for (size_t j = 0; j < 8; ++j) part[j] += memory[i + j];
    }
    for (const uint64_t p : part) sum += p;
    best = std::max(best, static_cast<double>(kWords * sizeof(uint64_t)) / (SecondsNow() - start));
  }
  asm volatile("" : : "r"(sum));
  return best;
}

}  // namespace

double MultiplyAddScalarPeak(int runs) {
  double best = 0;
  for (int run = 0; run < runs; ++run) {
    constexpr int kIterations = 20'000;
    double acc[8] = {};
    const double start = SecondsNow();
    for (int i = 0; i < kIterations; ++i) {
      for (double& a : acc) a = a * 0.5 + 1.0;
    }
    for (double& a : acc) asm volatile("" : "+x"(a));
    best = std::max(best, 16.0 * kIterations / (SecondsNow() - start));
  }
  return best;
}

Peaks MeasurePeaks(const std::string& table_name, bool memory) {
  Peaks peaks;
  if (table_name == "amx") {
    peaks.int8_instruction = "tdpbsud";
    peaks.int8_gops = AmxPeak() * 1e-9;
  } else if (table_name == "avx512-vnni") {
    peaks.int8_instruction = "vpdpbusd 512";
    peaks.int8_gops = VnniPeak() * 1e-9;
  } else if (table_name == "avx512" || table_name == "avx2") {
    peaks.int8_instruction = "vpmaddwd 256";
    peaks.int8_gops = Madd256Peak() * 1e-9;
  } else {
    peaks.int8_instruction = "scalar";
    peaks.int8_gops = MultiplyAddScalarPeak() * 1e-9;
  }
  if (table_name == "amx" || table_name.starts_with("avx512")) {
    peaks.f32_instruction = "vfmadd231ps 512";
    peaks.f32_gflops = Fma512Peak() * 1e-9;
  } else if (table_name == "avx2") {
    peaks.f32_instruction = "vfmadd231ps 256";
    peaks.f32_gflops = Fma256Peak() * 1e-9;
  } else {
    peaks.f32_instruction = "scalar";
    peaks.f32_gflops = MultiplyAddScalarPeak() * 1e-9;
  }
  if (memory) peaks.dram_gbytes_per_s = MeasureDramRead() * 1e-9;
  return peaks;
}

double MeasurePeakNow(const std::string& table_name, bool int8) {
  constexpr int kRuns = 4;
  const bool avx512 = table_name == "amx" || table_name.starts_with("avx512");
  if (int8 && table_name == "amx") return AmxPeak(kRuns) * 1e-9;
  if (int8 && table_name == "avx512-vnni") return VnniPeak(kRuns) * 1e-9;
  if (int8 && table_name != "scalar") return Madd256Peak(kRuns) * 1e-9;
  if (avx512) return Fma512Peak(kRuns) * 1e-9;
  return (table_name == "avx2" ? Fma256Peak(kRuns) : MultiplyAddScalarPeak(kRuns)) * 1e-9;
}

}  // namespace platen::bench
