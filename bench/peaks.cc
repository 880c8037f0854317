#include "bench/peaks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <fstream>
#include <new>
#include <numeric>
#include <thread>

#include "bench/spread.h"
#include "model/kernels/cpu_features.h"
#include "model/kernels/kernels.h"
#include "model/support/clock.h"

namespace platen::bench {
namespace {

constexpr size_t kMeterBytes = size_t{512} << 20;
constexpr int kMeterReads = 3;
constexpr std::align_val_t kHugePage{2 << 20};

// The sum of what `measure(thread)` gives on so many threads that start together.
template <class Measure>
double OnThreads(int threads, const Measure& measure) {
  if (threads == 1) return measure(0);
  std::vector<double> rates(static_cast<size_t>(threads));
  std::barrier start(threads);
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      start.arrive_and_wait();
      rates[static_cast<size_t>(i)] = measure(i);
    });
  }
  workers.clear();  // joins
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

// For CPUs without AVX2.
uint64_t ReadPlain(const uint8_t* memory, size_t bytes) {
  const auto* words = reinterpret_cast<const uint64_t*>(memory);
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes / sizeof(uint64_t); ++i) sum += words[i];
  return sum;
}

using Read = uint64_t (*)(const uint8_t* memory, size_t bytes);

// Ways to read; the fastest counts.
std::vector<Read> Reads() {
#if defined(PLATEN_X86_KERNELS)
  if (DetectCpuFeatures().avx2) return {ReadOneStream256, ReadFourStreams256};
#endif
  return {ReadPlain};
}

double ReadRate(Read read, const uint8_t* memory) {
  const int64_t start_ns = MonotonicNs();
  const uint64_t sum = read(memory, kMeterBytes);
  asm volatile("" : : "r"(sum));
  return static_cast<double>(kMeterBytes) / SecondsSince(start_ns);
}

using PeakLoop = double (*)(int runs);
struct Unit {
  const char* instruction = "";
  PeakLoop loop = nullptr;
};

#if defined(PLATEN_X86_KERNELS)

Unit Int8Unit(const std::string& table) {
  if (table == "amx") return {"tdpbsud", AmxPeak};
  if (table == "avx512-vnni") return {"vpdpbusd 512", VnniPeak};
  if (table == "avx-vnni") return {"vpdpbusd 256", Vnni256Peak};
  if (table == "avx512") return {"vpmaddwd 512", Madd512Peak};
  if (table == "avx2") return {"vpmaddwd 256", Madd256Peak};
  return {"scalar", MultiplyAddScalarPeak};
}

Unit F32Unit(const std::string& table) {
  if (table == "amx" || table.starts_with("avx512")) return {"vfmadd231ps 512", Fma512Peak};
  if (table.starts_with("avx")) return {"vfmadd231ps 256", Fma256Peak};
  return {"scalar", MultiplyAddScalarPeak};
}

#else

Unit Int8Unit(const std::string&) { return {"scalar", MultiplyAddScalarPeak}; }
Unit F32Unit(const std::string&) { return {"scalar", MultiplyAddScalarPeak}; }

#endif

double Gops(const Unit& unit, int threads) {
  return OnThreads(threads, [&](int) { return unit.loop(kManyRuns); }) * 1e-9;
}

// "32768K" in what the kernel says of the first CPU. The C library's figure is the whole package's,
// where a guest sees a part of it.
double LastLevelCacheBytes() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  double size = 0;
  char unit = 0;
  if (!(file >> size)) return static_cast<double>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
  file >> unit;
  return size * (unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1);
}

}  // namespace

double MultiplyAddScalarPeak(int runs) {
  double best = 0;
  for (int run = 0; run < runs; ++run) {
    constexpr int kIterations = 20'000;
    double acc[8] = {};
    const int64_t start_ns = MonotonicNs();
    for (int i = 0; i < kIterations; ++i) {
      for (double& a : acc) a = a * 0.5 + 1.0;
    }
    asm volatile("" : : "r"(acc) : "memory");
    best = std::max(best, 16.0 * kIterations / SecondsSince(start_ns));
  }
  return best;
}

MemoryMeter::MemoryMeter(int threads) {
  for (int i = 0; i < threads; ++i) {
    buffers_.emplace_back(static_cast<uint8_t*>(::operator new(kMeterBytes, kHugePage)));
    madvise(buffers_.back().get(), kMeterBytes, MADV_HUGEPAGE);  // a wish; without it, slower
    std::memset(buffers_.back().get(), 1, kMeterBytes);
  }
}

void MemoryMeter::Free::operator()(uint8_t* memory) const { ::operator delete(memory, kHugePage); }

double MemoryMeter::GbytesPerSecond() {
  double best = 0;
  for (int run = 0; run < kMeterReads; ++run) {
    for (const Read read : Reads()) {
      const auto rate = [&](int i) {
        return ReadRate(read, buffers_[static_cast<size_t>(i)].get());
      };
      best = std::max(best, OnThreads(static_cast<int>(buffers_.size()), rate));
    }
  }
  return best * 1e-9;
}

Peaks MeasurePeaks(const std::string& table_name, bool memory, int threads) {
  const Unit int8 = Int8Unit(table_name), f32 = F32Unit(table_name);
  Peaks peaks;
  peaks.int8_instruction = int8.instruction;
  peaks.int8_gops = Gops(int8, threads);
  peaks.f32_instruction = f32.instruction;
  peaks.f32_gflops = Gops(f32, threads);
  peaks.cache_bytes = LastLevelCacheBytes();
  if (memory) peaks.dram_gbytes_per_s = MemoryMeter(threads).GbytesPerSecond();
  return peaks;
}

double MeasurePeakNow(const std::string& table_name, bool int8) {
  constexpr int kRuns = 4;
  return (int8 ? Int8Unit(table_name) : F32Unit(table_name)).loop(kRuns) * 1e-9;
}

std::optional<bool> NeighbourIsBusy() {
#if defined(PLATEN_X86_KERNELS)
  constexpr int kRuns = 2;
  constexpr double kSlower = 2;  // 1.1 or 4, hardly ever between
  if (FindKernels("amx") != nullptr) return AmxPeak(kRuns) > kSlower * AmxLoadingPeak(kRuns);
#endif
  return std::nullopt;
}

Peaks MedianOf(const std::vector<Peaks>& peaks) {
  Peaks median = peaks.at(0);
  for (double Peaks::*rate : {&Peaks::int8_gops, &Peaks::f32_gflops, &Peaks::dram_gbytes_per_s}) {
    std::vector<double> values;
    for (const Peaks& p : peaks) values.push_back(p.*rate);
    median.*rate = SpreadOf(values).median;
  }
  return median;
}

}  // namespace platen::bench
