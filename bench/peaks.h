// What this machine can do at most, measured with register-only loops and one long read of memory.
//
// Every speed platen reports is a share of these, measured in the same run: the machines are shared
// and their CPUs differ.
#pragma once

#include <string>

namespace platen::bench {

struct Peaks {
  std::string int8_instruction;  // "tdpbsud", "vpdpbusd 512", ...
  double int8_gops = 0;          // one core; multiply and add counted
  std::string f32_instruction;
  double f32_gflops = 0;         // one core
  double dram_gbytes_per_s = 0;  // read by one core, far beyond the last-level cache
};

// Peaks of the instruction set a kernel table uses ("amx", "avx512-vnni", "avx512", "avx2",
// "scalar"). Takes
// about 20 ms without memory, 0.3 s with.
Peaks MeasurePeaks(const std::string& table_name, bool memory);

// GOPS of the int8 or f32 loop in the first moments after something else: at the clock a heavy load
// leaves, which is lower than the best one. 0.4 ms (AMX 2 ms).
double MeasurePeakNow(const std::string& table_name, bool int8);

// Register-only loops, in files of their own because of their compiler flags: the best of `runs` of
// 0.1 ms, operations per second.
constexpr int kManyRuns = 40;
double AmxPeak(int runs = kManyRuns);
double VnniPeak(int runs = kManyRuns);
double Fma512Peak(int runs = kManyRuns);
double Madd256Peak(int runs = kManyRuns);
double Fma256Peak(int runs = kManyRuns);
double MultiplyAddScalarPeak(int runs = kManyRuns);

}  // namespace platen::bench
