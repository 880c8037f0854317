// What a machine will do with GLM-OCR, from its peaks alone: for `platen doctor`, before the model
// is there.
#pragma once

#include <string_view>

#include "bench/operations.h"
#include "bench/page_bench.h"

namespace platen::bench {

// What GLM-OCR's linears and attention cost, from the sizes in its published config.json; the same
// that CountsOf gives for the model itself.
ModelCounts CountsOfGlmOcr();

// The page that docs/PERFORMANCE.md counts in: A4 at 150 dpi.
PageShape ShapeOfGlmOcrPage();

struct Range {
  double low = 0, high = 0;
};

// Share of the limit of a page that runs with these kernels (one of kKernelNames) have reached,
// over all CPUs they were measured on (docs/PERFORMANCE.md). Zero for kernels with which nobody
// would read pages.
Range MeasuredShareOfLimit(std::string_view kernels);

// Pages an hour with int8 precision on `threads` cores with these peaks of one core. `threads` of
// one process do from 0.8 to 1.0 times the work of as many processes. Zero as above.
Range PagesPerHourWithGlmOcr(std::string_view kernels, const Peaks& core, int threads);

}  // namespace platen::bench
