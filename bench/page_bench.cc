#include "bench/page_bench.h"

#include <stdlib.h>  // mkdtemp

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>

#include "bench/page_image.h"
#include "model/engine/sequence.h"
#include "model/support/error.h"
#include "pipeline/engine_recognizer.h"
#include "pipeline/hardware.h"
#include "pipeline/memory_plan.h"
#include "pipeline/run.h"
#include "stages/layout/regions.h"

namespace platen::bench {
namespace {

constexpr const char* kTaskText = "Text Recognition:";
// At kBaseDpi; 11 x 10 image tokens of 28 pixels.
constexpr int kBaseDpi = 150;
constexpr int kCropWidth = 308;
constexpr int kCropHeight = 280;
constexpr double kA4Width = 210 / 25.4, kA4Height = 297 / 25.4;  // inches

int AtDpi(int pixels, int dpi) {
  return static_cast<int>(std::lround(static_cast<double>(pixels) * dpi / kBaseDpi));
}

int CropWidth(int dpi) { return AtDpi(kCropWidth, dpi); }
int CropHeight(int dpi) { return AtDpi(kCropHeight, dpi); }

// A folder of its own, removed with all its content.
class ScratchFolder {
 public:
  ScratchFolder() {
    path_ = (std::filesystem::temp_directory_path() / "platen-bench-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) {
      throw Error(ErrorKind::kEnvironment, {path_, ""}, "cannot create a temporary folder");
    }
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// The top-left corner of a crop; they lie in a grid that fills the page.
struct Corner {
  int x, y;
};
Corner CornerOf(int crop, const Image& page, int dpi) {
  const int column = crop % PageWorkload::kCropColumns;
  const int row = crop / PageWorkload::kCropColumns;
  return {column * (page.width - CropWidth(dpi)) / (PageWorkload::kCropColumns - 1),
          row * (page.height - CropHeight(dpi)) / (PageWorkload::kCropRows - 1)};
}

PageLayout FixedLayout(const Image& page, int dpi) {
  PageLayout layout;
  for (int i = 0; i < PageWorkload::kCrops; ++i) {
    const Corner corner = CornerOf(i, page, dpi);
    const auto x0 = static_cast<float>(corner.x), y0 = static_cast<float>(corner.y);
    const auto x1 = static_cast<float>(corner.x + CropWidth(dpi));
    const auto y1 = static_cast<float>(corner.y + CropHeight(dpi));
    LayoutLine line;
    line.quad = {PointF{x0, y0}, PointF{x1, y0}, PointF{x1, y1}, PointF{x0, y1}};
    line.box = {x0, y0, x1, y1};
    layout.regions.push_back(RegionOfLines({line}, 0));
  }
  return layout;
}

std::vector<Crop> FixedCrops(const Image& page, const PageLayout& layout, int dpi) {
  std::vector<Crop> crops;
  for (int i = 0; i < PageWorkload::kCrops; ++i) {
    const Corner corner = CornerOf(i, page, dpi);
    Crop crop;
    crop.image = Image(CropWidth(dpi), CropHeight(dpi));
    crop.origin.quad = layout.regions[static_cast<size_t>(i)].quad;
    crop.origin.region = i;
    for (int y = 0; y < crop.image.height; ++y) {
      const uint8_t* from = page.Row(corner.y + y) + ptrdiff_t{3} * corner.x;
      std::copy_n(from, ptrdiff_t{3} * crop.image.width, crop.image.Row(y));
    }
    crops.push_back(std::move(crop));
  }
  return crops;
}

EngineOptions MakeEngineOptions(const PageWorkload& workload) {
  EngineOptions options;
  if (workload.as_ocr) {
    options.adaptive_drafts = true;
    options.kv_cache_bytes = PlanMemory(UsableMemoryBytes()).kv_cache_bytes;
  } else {
    options.draft_length = workload.draft_length;
  }
  return options;
}

Request MakeCropRequest(const Model& model, const PageWorkload& workload) {
  Request request;
  request.images.push_back(
      RequireVision(model).Prepare(Image(CropWidth(workload.dpi), CropHeight(workload.dpi))));
  request.task_text = kTaskText;
  request.max_new_tokens = workload.tokens_per_crop;
  request.ignore_stop = true;
  return request;
}

// Every crop gives exactly as many tokens as it may: a random model would stop anywhere.
class FullLengthRecognizer : public EngineRecognizer {
 public:
  FullLengthRecognizer(const Model& model, Engine& engine, int tokens)
      : EngineRecognizer(model, engine), tokens_(tokens) {}
  std::unique_ptr<CropSequence> Prepare(const Image& crop, const RequestOptions& options) override {
    RequestOptions full = options;
    full.ignore_stop = true;
    full.ends_after = tokens_;
    return EngineRecognizer::Prepare(crop, full);
  }

 private:
  int tokens_;
};

class PageBench {
 public:
  PageBench(const Model& model, const PageWorkload& workload)
      : model_(model),
        workload_(workload),
        engine_(model, MakeEngineOptions(workload)),
        recognizer_(model, engine_, workload.tokens_per_crop),
        detector_(MakeClassicalDetector()),
        memory_(std::make_unique<MemoryMeter>(1)) {
    const int width = static_cast<int>(std::lround(kA4Width * workload.dpi));
    const int height = static_cast<int>(std::lround(kA4Height * workload.dpi));
    std::filesystem::create_directory(folder_ / "in");
    for (int i = 0; i < workload.pages; ++i) {
      const std::string name = "page" + std::to_string(i) + ".jpg";
      WriteJpeg(DrawPage(static_cast<uint64_t>(i), width, height), folder_ / ("in/" + name));
      documents_.Add({folder_ / ("in/" + name), name, {}, ""});
    }
  }

  PageRun Run(bool traced) {
    PageRun run;
    const Peaks before = MeasureAll();
    const EngineStats earlier = recognizer_.stats();
    const RunReport report = Read(documents_, traced ? workload_.trace_path : "");
    const Peaks after = MeasureAll();
    run.wall_s = report.wall_s;
    run.core_s = report.cpu_s;
    for (size_t i = 0; i < run.stage_core_s.size(); ++i) {
      run.stage_core_s[i] = report.stages[i].thread_cpu_s;
    }
    run.steps = static_cast<double>(report.engine.steps - earlier.steps);
    run.sequences =
        static_cast<double>(report.engine.rounds - earlier.rounds) / std::max(1.0, run.steps);
    run.peaks = MedianOf({before, after});
    return run;
  }

  void WarmUp() { Read({documents_.front()}, ""); }

 private:
  Peaks MeasureAll() {
    Peaks peaks = MeasurePeaks(model_.kernels().name, false);
    peaks.dram_gbytes_per_s = memory_->GbytesPerSecond();
    return peaks;
  }

  RunReport Read(DocumentList documents, const std::string& trace_path) {
    PageTools tools;
    tools.segment = [this](Image& page) {
      detector_->Detect(page);
      return FixedLayout(page, workload_.dpi);
    };
    tools.crop = [this](const Image& page, const PageLayout& layout, const ReadingConfig&,
                        const ReadOptions&) { return FixedCrops(page, layout, workload_.dpi); };
    RunOptions options;
    options.pipeline.reading.prompts = {
        {"text", kTaskText}, {"table", kTaskText}, {"formula", kTaskText}};
    options.version = "bench";
    options.model_id = "bench";
    options.source.force = true;
    SetStandardKinds(options.pipeline.reading);
    options.source.read.max_new_tokens = workload_.as_ocr ? 0 : workload_.tokens_per_crop;
    options.pipeline.threads = workload_.threads;
    options.pipeline.slots = workload_.slots;
    options.pipeline.pixels = workload_.slots * kPixelsOfASlot;
    options.trace_path = trace_path;
    RunTools run_tools{[](const std::string& path) { return DocumentReader::Open(path, {}); },
                       tools, recognizer_, [] { return false; }, nullptr};
    Ledger ledger(folder_ / "out", {{"bench"}, {"bench"}, {"txt", "md", "json"}});
    const RunReport report = platen::Run(options, run_tools, ledger, std::move(documents));
    if (report.totals.pages_failed > 0) {
      throw Error(ErrorKind::kEnvironment, {},
                  "a page failed: " + report.failures.front().error.text);
    }
    return report;
  }

  const Model& model_;
  const PageWorkload& workload_;
  // One for all runs: its memory is touched for the first time with the page that is not counted,
  // as in a long run. (On a virtual machine that can cost half a second.)
  Engine engine_;
  FullLengthRecognizer recognizer_;
  ScratchFolder folder_;
  std::unique_ptr<LayoutDetector> detector_;
  std::unique_ptr<MemoryMeter> memory_;
  DocumentList documents_;
};

}  // namespace

double PageRun::other_core_s() const {
  return core_s - std::accumulate(stage_core_s.begin(), stage_core_s.end(), 0.0);
}

PageShape ShapeOf(const Model& model, const PageWorkload& workload) {
  const Engine engine(model, MakeEngineOptions(workload));
  Request request = MakeCropRequest(model, workload);
  const int64_t patches = request.images.front().grid.num_patches();
  const auto sequence = engine.Prepare(std::move(request));
  PageShape shape;
  shape.patches.assign(PageWorkload::kCrops, patches);
  shape.prompts.assign(PageWorkload::kCrops, sequence->prompt_len());
  shape.image_tokens = int64_t{PageWorkload::kCrops} * sequence->result.image_tokens;
  shape.output_tokens = int64_t{PageWorkload::kCrops} * workload.tokens_per_crop;
  return shape;
}

PageLimit LimitOfPage(const ModelCounts& counts, const PageShape& shape, double steps_per_page,
                      const Peaks& peaks, Precision precision, VisionAttention attention) {
  PageLimit limit;
  limit.vision = LimitOf(VisionWork(counts, shape.patches, precision, attention), peaks, precision);
  limit.prefill = LimitOf(PrefillWork(counts, shape.prompts, precision), peaks, precision);
  // The first token comes from prefill.
  const int64_t rounds = shape.output_tokens / static_cast<int64_t>(shape.prompts.size()) - 1;
  for (int64_t i = 0; i < rounds; ++i) {
    std::vector<int64_t> contexts = shape.prompts;
    for (int64_t& context : contexts) context += i + 1;
    const Limit round = LimitOf(DecodeWork(counts, contexts, precision), peaks, precision);
    limit.decode.compute_s += round.compute_s;
    limit.decode.memory_s += round.memory_s;
  }
  // Sequences of several pages share a step and its weights.
  const Limit weights = LimitOf(DecodeWork(counts, {}, precision), peaks, precision);
  limit.decode.memory_s += (steps_per_page - static_cast<double>(rounds)) * weights.memory_s;
  return limit;
}

std::vector<PageRun> RunPageBench(const Model& model, const PageWorkload& workload,
                                  int repetitions) {
  PageBench bench(model, workload);
  bench.WarmUp();
  std::vector<PageRun> runs;
  for (int i = 0; i < repetitions; ++i) runs.push_back(bench.Run(i + 1 == repetitions));
  return runs;
}

}  // namespace platen::bench
