#include "model/families/pp_doclayout/mask_boxes.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "model/ops/parallel.h"

namespace platen::pp_doclayout {
namespace {

constexpr int32_t kNone = std::numeric_limits<int32_t>::max();

// The first and last column of a row of the map in which each mask is on; kNone and -1: nowhere.
struct RowSpans {
  std::vector<int32_t> first, last;  // [Q]

  explicit RowSpans(size_t queries) : first(queries, kNone), last(queries, -1) {}
  void Add(const float* masks, int32_t column) {
    for (size_t q = 0; q < first.size(); ++q) {
      const bool on = masks[q] > 0.0F;
      first[q] = std::min(first[q], on ? column : kNone);
      last[q] = std::max(last[q], on ? column : -1);
    }
  }
};

// [pixels, Q] -> [Q, height, width]
void Report(const ArrayObserver& observer, ConstMapView features, const Mat& masks) {
  ReportMap(observer, "query_masks", {masks.View(), features.height, features.width});
}

void BoxOf(const std::vector<RowSpans>& rows, size_t query, int width, float* box) {
  int32_t x0 = kNone, x1 = -1, y0 = kNone, y1 = -1;
  for (size_t y = 0; y < rows.size(); ++y) {
    if (rows[y].last[query] < 0) continue;
    x0 = std::min(x0, rows[y].first[query]);
    x1 = std::max(x1, rows[y].last[query]);
    y0 = std::min(y0, static_cast<int32_t>(y));
    y1 = static_cast<int32_t>(y);
  }
  if (x1 < 0) {
    std::fill_n(box, 4, 0.0F);
    return;
  }
  const auto w = static_cast<float>(width), h = static_cast<float>(rows.size());
  const float left = static_cast<float>(x0) / w, right = static_cast<float>(x1 + 1) / w;
  const float top = static_cast<float>(y0) / h, bottom = static_cast<float>(y1 + 1) / h;
  box[0] = (left + right) / 2;
  box[1] = (top + bottom) / 2;
  box[2] = right - left;
  box[3] = bottom - top;
}

}  // namespace

void MaskBoxes(const KernelTable& kernels, ConstMatView queries, ConstMapView features,
               MatView boxes, const ArrayObserver& observer) {
  const auto count = static_cast<size_t>(queries.rows);
  const Linear masks_of = Linear::Pack(Precision::kF32, queries, {});
  std::vector<RowSpans> rows(static_cast<size_t>(features.height), RowSpans(count));
  Mat all;
  if (observer) all.Resize(features.pixels.rows, queries.rows);
  ParallelFor(features.height, [&](int64_t y) {
    thread_local Mat masks;
    const MatView out = masks.Shaped(features.width, queries.rows);
    masks_of.ApplyTile(kernels, features.pixels.Rows(y * features.width, features.width), out,
                       Linear::Mode::kStore);
    for (int x = 0; x < features.width; ++x) rows[static_cast<size_t>(y)].Add(out.Row(x), x);
    if (observer) std::copy_n(out.data, out.rows * out.cols, all.View().Row(y * features.width));
  });
  if (observer) Report(observer, features, all);
  for (size_t q = 0; q < count; ++q) {
    BoxOf(rows, q, features.width, boxes.Row(static_cast<int64_t>(q)));
  }
}

}  // namespace platen::pp_doclayout
