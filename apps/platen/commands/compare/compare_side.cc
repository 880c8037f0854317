#include "apps/platen/commands/compare/compare_side.h"

#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/commands/ocr/reading_settings.h"
#include "model/kernels/gemm_schedule.h"
#include "model/support/clock.h"
#include "pipeline/telemetry.h"

namespace platen {
namespace {

PageReaderOptions ReaderOptions(const Settings& settings, const Model& model) {
  PageReaderOptions options;
  options.read = ReadOptionsFrom(settings, model.snapshot().reading);
  options.kv_cache_bytes = settings.Integer("kv-cache-mib") << 20;
  return options;
}

}  // namespace

PageReading Side::Read(const WalkedPage& page) {
  const int64_t start_ns = MonotonicNs();
  const double start_core_s = ProcessCpuSeconds();
  PageReading reading = reader->Read(page.image, page.layout);
  report.wall_s += SecondsSince(start_ns);
  report.core_s += ProcessCpuSeconds() - start_core_s;
  return reading;
}

Side LoadSide(const Settings& settings, const CompareSide& chosen, const QuantizationPlan* plan) {
  const int64_t start_ns = MonotonicNs();
  auto snapshot = std::make_unique<Snapshot>(LoadSnapshotAndWarn(chosen.model));
  if (plan != nullptr) snapshot->quantization = *plan;
  Side side;
  // Packed files hold the snapshot's own groups.
  const PackingOptions packing =
      plan == nullptr ? PackingFrom(settings, chosen.model, chosen.precision) : PackingOptions{};
  side.model =
      std::make_unique<Model>(std::move(snapshot), WithFastestSchedule(KernelsFrom(settings)),
                              chosen.precision, packing, chosen.attention);
  side.reader = std::make_unique<PageReader>(*side.model, ReaderOptions(settings, *side.model));
  side.report.model = chosen.model;
  side.report.precision = PrecisionName(chosen.precision);
  side.report.attention = VisionAttentionName(chosen.attention);
  side.report.weight_bytes = side.model->modules().PackedBytes();
  side.report.load_s = SecondsSince(start_ns);
  return side;
}

}  // namespace platen
