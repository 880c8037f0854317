#include "apps/platen/commands/doctor/outlook.h"

#include <fmt/format.h>

#include <cmath>

namespace platen {
namespace {

// docs/PERFORMANCE.md: the peak of a process with GLM-OCR's sizes; the snapshot and its packed
// file.
constexpr double kMemoryGb = 2.3, kSnapshotGb = 2.7, kPackedGb = 1.3;
constexpr double kGigabyte = 1e9;

// Two digits: a forecast has no more.
std::string Rounded(double value) {
  if (value < 10) return fmt::format("{:.1f}", value);
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

std::string Rate(const OutlookFacts& facts) {
  if (facts.pages_per_hour.high <= 0) {
    return "With GLM-OCR, this machine would take minutes for a page: its CPU has no AVX2.\n";
  }
  return fmt::format(
      "With GLM-OCR, this machine will read about {} to {} A4 pages an hour at 150 dpi with {},\n"
      "if nothing else runs; at 200 dpi half as many. The bundled platen-mini is about a hundred "
      "times\nas fast, but reads printed Latin script alone.\n",
      Rounded(facts.pages_per_hour.low), Rounded(facts.pages_per_hour.high),
      facts.threads == 1 ? "its one CPU" : fmt::format("its {} CPUs", facts.threads));
}

std::string Needs(const OutlookFacts& facts) {
  std::string text = fmt::format(
      "GLM-OCR needs {:.1f} GB of memory ({:.1f} GB are there) and {:.1f} GB of disk", kMemoryGb,
      static_cast<double>(facts.memory_bytes) / kGigabyte, kSnapshotGb + kPackedGb);
  if (facts.free_disk_bytes < 0) return text + ".\n";
  return text + fmt::format(" ({:.0f} GB are free).\n",
                            static_cast<double>(facts.free_disk_bytes) / kGigabyte);
}

std::vector<std::string> Missing(const OutlookFacts& facts) {
  std::vector<std::string> missing;
  const double needed = facts.has_glm_ocr ? kPackedGb : kSnapshotGb + kPackedGb;
  if (static_cast<double>(facts.memory_bytes) < kMemoryGb * kGigabyte) {
    missing.push_back("Memory for GLM-OCR. platen-mini needs 0.3 GB.");
  }
  if (facts.free_disk_bytes >= 0 &&
      static_cast<double>(facts.free_disk_bytes) < needed * kGigabyte) {
    missing.push_back("Disk for GLM-OCR in " + facts.model_folder +
                      ": make room, or set HF_HOME to another disk.");
  }
  if (!facts.has_glm_ocr) {
    missing.push_back("GLM-OCR itself: `platen fetch zai-org/GLM-OCR` downloads it, 2.7 GB.");
  }
  missing.insert(missing.end(), facts.missing.begin(), facts.missing.end());
  return missing;
}

}  // namespace

std::string Outlook(const OutlookFacts& facts) {
  std::string text = Rate(facts) + Needs(facts);
  const std::vector<std::string> missing = Missing(facts);
  if (missing.empty()) return text + "Nothing is missing.\n";
  text += "Missing:\n";
  for (const std::string& what : missing) text += "- " + what + "\n";
  return text;
}

}  // namespace platen
