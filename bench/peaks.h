// What this machine can do at most, measured with register-only loops and long reads of memory.
//
// Every speed platen reports is a share of these, measured in the same run: the machines are shared
// and their CPUs differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace platen::bench {

// Rates of `threads` cores working at the same time.
struct Peaks {
  std::string int8_instruction;  // "tdpbsud", "vpdpbusd 512", ...
  double int8_gops = 0;          // multiply and add counted, as in all rates
  std::string f32_instruction;
  double f32_gflops = 0;
  double dram_gbytes_per_s = 0;  // 0: not measured
  double cache_bytes = 0;        // size of the last-level cache; 0: not known
};

// Peaks of the instruction set a kernel table uses (one of kKernelNames). With `memory`, also the
// rate of a MemoryMeter made for this call. Takes about 20 ms without memory, half a second with.
Peaks MeasurePeaks(const std::string& table_name, bool memory, int threads = 1);

// Medians of the rates (of two, the better one); at least one element.
Peaks MedianOf(const std::vector<Peaks>& peaks);

// Reads memory far beyond the last-level cache, one buffer for each thread, with prefetch and from
// huge pages where the system gives them: in one stream, which is faster on AMD's Zen 4 (30 and 22
// GB/s), and in four, on Intel's Sapphire Rapids (11 and 17). Holds the buffers, so that measuring
// again is quick (about 0.2 s).
class MemoryMeter {
 public:
  explicit MemoryMeter(int threads);
  // Best of a few reads, all threads together.
  double GbytesPerSecond();

 private:
  struct Free {
    void operator()(uint8_t* memory) const;
  };
  std::vector<std::unique_ptr<uint8_t, Free>> buffers_;
};

// GOPS of the int8 or f32 loop in the first moments after something else: at the clock a heavy load
// leaves, which is lower than the best one. 0.4 ms (AMX 2 ms).
double MeasurePeakNow(const std::string& table_name, bool int8);

// Whether something else keeps the same physical core busy right now, seen by how much tile
// products slow down that load their operands (docs/notes/2026-11-22-amx.md): four times with a
// busy hardware thread beside this one, not at all without. None where the CPU has no AMX. 3 ms.
std::optional<bool> NeighbourIsBusy();

// Register-only loops, in files of their own because of their compiler flags: the best of `runs` of
// 0.1 ms, operations per second of the calling thread. The CPU must have the instructions.
constexpr int kManyRuns = 40;
double AmxPeak(int runs = kManyRuns);
double AmxLoadingPeak(int runs);  // the same with operands loaded from the L1 cache
double VnniPeak(int runs = kManyRuns);
double Fma512Peak(int runs = kManyRuns);
double Vnni256Peak(int runs = kManyRuns);
double Madd512Peak(int runs = kManyRuns);
double Madd256Peak(int runs = kManyRuns);
double Fma256Peak(int runs = kManyRuns);
double MultiplyAddScalarPeak(int runs = kManyRuns);

// Read `bytes` (a multiple of 256); return something that depends on all of them.
uint64_t ReadOneStream256(const uint8_t* memory, size_t bytes);
uint64_t ReadFourStreams256(const uint8_t* memory, size_t bytes);

}  // namespace platen::bench
