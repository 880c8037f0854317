#include "model/ops/deformable_attention.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "model/ops/parallel.h"
#include "model/support/fixed_math.h"

namespace platen {
namespace {

constexpr int64_t kQueriesPerTask = 8;

void Softmax(const float* logits, std::span<float> out) {
  const auto n = static_cast<int64_t>(out.size());
  const double most = static_cast<double>(*std::max_element(logits, logits + n));
  double sum = 0;
  std::vector<double> e(out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    e[i] = FixedExp(static_cast<double>(logits[i]) - most);
    sum += e[i];
  }
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(e[i] / sum);
}

// One head of one level: its first value, and the distance of pixels.
struct HeadMap {
  const float* values;
  int64_t stride;
  MapSize size;
};

// out += weight x the map at (x, y), in pixels from the centre of the first one.
void AddSample(const HeadMap& map, float x, float y, float weight, std::span<float> out) {
  // Also turns away what is not a number.
  if (!(x > -1.0F && y > -1.0F && x < static_cast<float>(map.size.width) &&
        y < static_cast<float>(map.size.height))) {
    return;
  }
  const float left = std::floor(x), top = std::floor(y);
  const float right_share = x - left, bottom_share = y - top;
  for (int corner = 0; corner < 4; ++corner) {
    const bool right = corner % 2 == 1, bottom = corner / 2 == 1;
    const int column = static_cast<int>(left) + (right ? 1 : 0);
    const int row = static_cast<int>(top) + (bottom ? 1 : 0);
    if (column < 0 || row < 0 || column >= map.size.width || row >= map.size.height) continue;
    const float share = (right ? right_share : 1.0F - right_share) *
                        (bottom ? bottom_share : 1.0F - bottom_share) * weight;
    const float* value = map.values + (int64_t{row} * map.size.width + column) * map.stride;
    float* to = out.data();
    const size_t n = out.size();
    for (size_t c = 0; c < n; ++c) to[c] += share * value[c];
  }
}

void Attend(const DeformableShape& shape, ConstMatView values, const DeformableQueries& queries,
            int64_t query, MatView out) {
  const int64_t samples = shape.samples();
  const int64_t width = values.cols / shape.heads;
  const float* box = queries.boxes.Row(query);
  const auto points = static_cast<float>(shape.points);
  std::vector<float> weights(static_cast<size_t>(samples));
  for (int64_t head = 0; head < shape.heads; ++head) {
    Softmax(queries.logits.Row(query) + head * samples, weights);
    const float* offset = queries.offsets.Row(query) + head * samples * 2;
    const std::span<float> sum(out.Row(query) + head * width, static_cast<size_t>(width));
    std::fill(sum.begin(), sum.end(), 0.0F);
    int64_t first_pixel = 0;
    size_t sample = 0;
    for (const MapSize& size : shape.levels) {
      const HeadMap map = {values.data + first_pixel * values.stride + head * width, values.stride,
                           size};
      for (int point = 0; point < shape.points; ++point, ++sample, offset += 2) {
        const float x = box[0] + offset[0] / points * box[2] * 0.5F;
        const float y = box[1] + offset[1] / points * box[3] * 0.5F;
        AddSample(map, x * static_cast<float>(size.width) - 0.5F,
                  y * static_cast<float>(size.height) - 0.5F, weights[sample], sum);
      }
      first_pixel += size.pixels();
    }
  }
}

}  // namespace

void DeformableAttention(const DeformableShape& shape, ConstMatView values,
                         const DeformableQueries& queries, MatView out) {
  assert(values.cols % shape.heads == 0 && out.cols == values.cols);
  assert(queries.offsets.cols == 2 * queries.logits.cols);
  assert(queries.logits.cols == shape.heads * shape.samples());
  const int64_t tasks = (out.rows + kQueriesPerTask - 1) / kQueriesPerTask;
  ParallelFor(tasks, [&](int64_t task) {
    const int64_t end = std::min(out.rows, (task + 1) * kQueriesPerTask);
    for (int64_t q = task * kQueriesPerTask; q < end; ++q) {
      Attend(shape, values, queries, q, out);
    }
  });
}

}  // namespace platen
