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

// Register-only loops, in files of their own because of their compiler flags. Operations per
// second.
double AmxPeak();
double VnniPeak();
double Fma512Peak();
double Madd256Peak();
double Fma256Peak();
double MultiplyAddScalarPeak();

}  // namespace platen::bench
