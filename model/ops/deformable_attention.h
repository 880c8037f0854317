// Attention that looks at a few points of maps of several sizes, wherever a query asks it to.
//
// Source: Deformable DETR (Zhu et al. 2021), as transformers' multi-scale deformable attention.
#pragma once

#include <span>

#include "model/ops/tensor.h"

namespace platen {

struct MapSize {
  int height = 0;
  int width = 0;
  int64_t pixels() const { return int64_t{height} * width; }
};

struct DeformableShape {
  int heads = 0;
  int points = 0;                   // of a query, head and map
  std::span<const MapSize> levels;  // the maps, one after the other in `values`

  int64_t samples() const { return static_cast<int64_t>(levels.size()) * points; }  // of a head
};

struct DeformableQueries {
  ConstMatView offsets;  // [Q, heads x levels x points x 2]: x, y
  ConstMatView logits;   // [Q, heads x levels x points]: of the weights, softmax per head
  ConstMatView boxes;    // [Q, 4]: centre x, y, width, height, as shares of the page
};

// out [Q, heads x d] = per head the weighted sum of values [pixels of all levels, heads x d] at
//   centre + offset / points x size of the box / 2
// of each level, bilinear between the centres of its pixels, zeros outside. Every query for itself:
// same bits with any number of threads, and on every CPU.
void DeformableAttention(const DeformableShape& shape, ConstMatView values,
                         const DeformableQueries& queries, MatView out);

}  // namespace platen
