// platen doctor: what this machine offers and what will be used.

// jpeglib.h needs size_t and FILE before it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on
#include <fmt/format.h>
#include <png.h>
#include <tbb/version.h>
#include <tiffio.h>
#include <unistd.h>
#include <webp/decode.h>

#include <boost/version.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <opencv2/core/version.hpp>
#include <optional>
#include <sstream>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/doctor/outlook.h"
#include "bench/forecast.h"
#include "bench/peaks.h"
#include "model/checkpoint/packed_weights.h"
#include "model/families/packing_plan.h"
#include "model/families/snapshot.h"
#include "model/hub/hub_cache.h"
#include "model/kernels/gemm_schedule.h"
#include "model/kernels/kernels.h"
#include "model/support/container_limits.h"
#include "model/support/error.h"
#include "pipeline/hardware.h"

namespace platen {
namespace {

const OptionTable& DoctorOptions() {
  static const OptionTable table = {
      ModelOption("Options"),
      PrecisionOption("Options"),
      PackedDirOption("Options"),
      HelpOption("Options"),
  };
  return table;
}

void Row(std::string_view name, const std::string& value) {
  fmt::print("{:<14} {}\n", name, value);
}

std::string Listed(const std::vector<std::string>& items) {
  return items.empty() ? "none" : fmt::format("{}", fmt::join(items, " "));
}

std::string Gibibytes(int64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::string FindOnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

// What the container takes away, if anything.
std::string ContainerNote() {
  const ContainerLimits limits = ReadContainerLimits();
  std::string note;
  if (limits.memory_bytes) note += "; its container may use " + Gibibytes(*limits.memory_bytes);
  if (limits.cpus) {
    note += fmt::format("{} {:.2f} CPUs", note.empty() ? "; its container may use" : " and",
                        *limits.cpus);
  }
  return note;
}

void PrintMachine() {
  Row("cpu", CpuName());
  Row("features", Listed(CpuFeatureNames()));
  std::vector<std::string> usable;
  for (const char* name : kKernelNames) {
    if (FindKernels(name) != nullptr) usable.emplace_back(name);
  }
  const KernelTable kernels = WithFastestSchedule(BestKernels());
  Row("kernels", std::string(kernels.name) + " (usable: " + Listed(usable) + ")");
  if (kernels.schedules.count > 0) {
    Row("int8 product", std::string(kernels.schedules.list[kernels.schedule].name) +
                            " (the fastest of its schedules here)");
  }
  Row("threads", std::to_string(AvailableCpus()) + " by default (CPUs this process may use)");
  Row("memory", Gibibytes(TotalMemoryBytes()) + ", " + Gibibytes(AvailableMemoryBytes()) +
                    " available" + ContainerNote());
}

// "829 GOPS a core (vpdpbusd 512)"
std::string Rate(double rate, const char* unit, const std::string& instruction) {
  return fmt::format("{:.0f} {} a core ({})", rate, unit, instruction);
}

// Warns of what makes the program slow.
void PrintSpeed(const bench::Peaks& peaks) {
  Row("int8 peak", Rate(peaks.int8_gops, "GOPS", peaks.int8_instruction));
  Row("f32 peak", Rate(peaks.f32_gflops, "GFLOPS", peaks.f32_instruction));
  Row("memory read", fmt::format("{:.1f} GB/s by one core", peaks.dram_gbytes_per_s));
  if (bench::NeighbourIsBusy().value_or(false)) {
    Row("note", "something else keeps this CPU core busy just now: int8 products are slower");
  }
  if (FindKernels("avx2") == nullptr) {
    Row("warning",
        "there are no AVX2 kernels for this CPU: reading is many times slower with others");
  }
  // A decoding step reads every weight once: 0.5 GB for GLM-OCR in int8.
  constexpr double kSlowMemory = 4;
  if (peaks.dram_gbytes_per_s < kSlowMemory) {
    Row("warning", "memory is slow just now; other programs may be using it");
  }
}

void PrintLibraries() {
  Row("oneTBB", TBB_runtime_version());
  Row("OpenCV", CV_VERSION);
  Row("Boost", BOOST_LIB_VERSION);
  Row("JSON", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                          NLOHMANN_JSON_VERSION_PATCH));
  Row("libjpeg", std::to_string(JPEG_LIB_VERSION));
  Row("libpng", png_get_libpng_ver(nullptr));
  const std::string tiff = TIFFGetVersion();
  Row("libtiff", tiff.substr(0, tiff.find('\n')));
  const int webp = WebPGetDecoderVersion();
  Row("libwebp", fmt::format("{}.{}.{}", webp >> 16, (webp >> 8) & 255, webp & 255));
}

// Programs that platen starts. What is returned says what cannot be done without those that are not
// there.
std::vector<std::string> PrintPrograms() {
  struct Program {
    const char* name;
    const char* package;
    const char* use;
  };
  constexpr Program kPrograms[] = {{"pdfinfo", "poppler-utils", "PDF files"},
                                   {"pdftoppm", "poppler-utils", "PDF files"},
                                   {"pdftotext", "poppler-utils", "the text of PDF files"},
                                   {"qpdf", "qpdf", "--format pdf of PDF files"}};
  std::vector<std::string> missing;
  for (const Program& program : kPrograms) {
    const std::string found = FindOnPath(program.name);
    Row(program.name, found.empty() ? std::string("missing") : found);
    if (found.empty()) {
      missing.push_back(
          fmt::format("{}, for {}: `apt install {}`.", program.name, program.use, program.package));
    }
  }
  return missing;
}

// Where the packed weights lie and whether a run would use them.
void PrintPacked(const Settings& settings, const Snapshot& snapshot) {
  using Kind = PackedState::Kind;
  const Precision precision = PrecisionNamed(settings.Text("precision"));
  const std::string& packed_dir = settings.Text("packed-dir");
  PackingOptions packing;
  packing.paths = PackedPaths(packed_dir, snapshot.dir, precision);
  packing.warn = [](const std::string& text) { Row("draft head", text); };
  const PackingPlan plan(snapshot, precision,
                         InstalledDraftHead(DraftHeadPaths(packed_dir, snapshot.dir)), packing);
  if (!plan.draft_head().empty()) Row("draft head", plan.draft_head() + ": installed");
  for (const std::string& path : packing.paths) {
    const PackedState state = StateOfPacked(path, plan.subject());
    if (state.kind == Kind::kAbsent) continue;
    Row("packed",
        path + (state.kind == Kind::kCurrent
                    ? ": current, " + Gibibytes(static_cast<int64_t>(state.bytes)) +
                          (state.draft_head.empty() ? "" : ", carries " + state.draft_head)
                : state.kind == Kind::kStale ? ": out of date: " + state.reason
                                             : ": not usable: " + state.reason));
    if (state.kind == Kind::kCurrent) return;
  }
  Row("packed", WorthKeeping(snapshot.checkpoint, precision)
                    ? "none yet; the first run writes the weights packed to a file"
                    : "none; these weights are packed at every start");
}

// The folder of the model, if it can be used.
std::optional<std::string> PrintModel(const Settings& settings) {
  try {
    const std::string dir = LocateModel(settings.Text("model"));
    const Snapshot snapshot = LoadSnapshot(dir);
    Row("model", dir + ": usable, reads by " + GranularityName(snapshot.reading.granularity));
    PrintPacked(settings, snapshot);
    return dir;
  } catch (const Error& e) {
    Row("model", std::string("not usable: ") + e.what());
    return std::nullopt;
  }
}

constexpr const char* kGlmOcr = "zai-org/GLM-OCR";

// Whether GLM-OCR is there: as the model that was given, or in the cache.
bool HasGlmOcr(const std::optional<std::string>& model_folder) {
  if (model_folder && *model_folder != BundledModel()) return true;
  try {
    FindCachedSnapshot(HubCacheFolder(), *ParseModelName(kGlmOcr));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Of the file system that holds `folder`, or will.
int64_t FreeBytes(std::filesystem::path folder) {
  std::error_code error;
  while (!std::filesystem::exists(folder, error) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  const auto space = std::filesystem::space(folder, error);
  return error ? -1 : static_cast<int64_t>(space.available);
}

OutlookFacts FactsFor(const bench::Peaks& core, const std::optional<std::string>& model_folder,
                      std::vector<std::string> missing) {
  OutlookFacts facts;
  facts.threads = AvailableCpus();
  facts.pages_per_hour = bench::PagesPerHourWithGlmOcr(BestKernels().name, core, facts.threads);
  facts.memory_bytes = UsableMemoryBytes();
  facts.has_glm_ocr = HasGlmOcr(model_folder);
  facts.missing = std::move(missing);
  try {
    facts.model_folder = HubCacheFolder();
    facts.free_disk_bytes = FreeBytes(facts.model_folder);
  } catch (const Error& e) {
    facts.missing.push_back(std::string("A folder for downloaded models: ") + e.what() + ".");
  }
  return facts;
}

}  // namespace

const CommandSpec& DoctorCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen doctor [options]"},
      .description =
          "Shows what this machine offers, how fast it is just now, and what platen will use; then "
          "how many pages an hour it will read, and what is missing. Takes a second or two.\n",
      .options = DoctorOptions(),
      .exit_codes = {{"3", "the model cannot be used"}}};
  return spec;
}

int RunDoctorCommand(const Words& words) {
  const auto settings = ParseCommand(DoctorCommand(), words);
  if (!settings) return kExitDone;
  RequireNoArguments(*settings, "doctor");
  Row("platen", PLATEN_VERSION);
  PrintMachine();
  const bench::Peaks core = bench::MeasurePeaks(BestKernels().name, /*memory=*/true);
  PrintSpeed(core);
  PrintLibraries();
  std::vector<std::string> missing = PrintPrograms();
  const std::optional<std::string> model_folder = PrintModel(*settings);
  fmt::print("\n{}", Outlook(FactsFor(core, model_folder, std::move(missing))));
  return model_folder ? kExitDone : kExitEnvironment;
}

}  // namespace platen
