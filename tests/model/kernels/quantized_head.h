// One head of an image for the tests of attention in exact integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "model/kernels/kernels.h"

namespace platen {

// Rows of one head, [n][d].
struct Head {
  int n, d;
  std::vector<float> q, k, v;

  float scale() const { return 1.0F / std::sqrt(static_cast<float>(d)); }
  float* Row(std::vector<float>& x, int row) const { return x.data() + ptrdiff_t{row} * d; }
};

inline Head RandomHead(int n, int d, unsigned seed, float q_size = 2) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  Head head = {n, d, {}, {}, {}};
  for (auto* rows : {&head.q, &head.k, &head.v}) {
    for (int i = 0; i < n * d; ++i) rows->push_back(normal(rng) * (rows == &head.q ? q_size : 1));
  }
  return head;
}

// A head quantised by a table's kernels. What is padding, and is not written by them, is garbage.
struct QuantizedHead {
  AttentionInt8Job job;
  std::vector<int8_t> q, v;
  std::vector<uint8_t> k;
  std::vector<float> q_scales, k_scales, v_scales, v_means, result;
  std::vector<int32_t> q_corrections;
  std::vector<float*> out;

  QuantizedHead(const KernelTable& table, const Head& head) {
    job.head_dim = head.d;
    job.factor = Int8Factor(head.scale(), head.d);
    job.rows = job.keys = head.n;
    const auto n = static_cast<size_t>(head.n);
    const size_t pages = (n + kInt8PageTokens - 1) / kInt8PageTokens;
    const size_t blocks = (n + kKeySplit - 1) / kKeySplit;
    const auto depth = static_cast<size_t>(job.depth()), stride = static_cast<size_t>(job.stride());
    q.resize(n * depth);
    q_scales.resize(n);
    q_corrections.resize(n);
    k.assign(pages * kInt8PageTokens * depth, 0x5A);
    k_scales.assign(pages * kInt8PageTokens, std::numeric_limits<float>::quiet_NaN());
    v.assign(pages * kInt8PageTokens * stride, 0x5A);
    v_scales.assign(blocks * stride, std::numeric_limits<float>::quiet_NaN());
    v_means.assign(blocks * stride, std::numeric_limits<float>::quiet_NaN());
    result.assign(n * static_cast<size_t>(head.d), -1.0F);
    QuantizeRows(table, head);
    QuantizeBlocks(table, head);
    for (size_t i = 0; i < n; ++i) out.push_back(result.data() + i * static_cast<size_t>(head.d));
    job.q = q.data();
    job.q_scales = q_scales.data();
    job.q_corrections = q_corrections.data();
    job.k = k.data();
    job.k_scales = k_scales.data();
    job.v = v.data();
    job.v_scales = v_scales.data();
    job.v_means = v_means.data();
    job.out = out.data();
  }

  void QuantizeRows(const KernelTable& table, const Head& head) {
    const int depth = job.depth();
    std::vector<float> row(static_cast<size_t>(head.d));
    std::vector<int8_t> key(static_cast<size_t>(depth));
    for (int i = 0; i < head.n; ++i) {
      const auto at = static_cast<size_t>(i);
      row.assign(head.q.begin() + ptrdiff_t{i} * head.d,
                 head.q.begin() + ptrdiff_t{i + 1} * head.d);
      table.hadamard(row.data(), head.d);
      table.quantize_row(row.data(), head.d, depth, depth, q.data() + ptrdiff_t{i} * depth,
                         &q_scales[at], &q_corrections[at]);
      row.assign(head.k.begin() + ptrdiff_t{i} * head.d,
                 head.k.begin() + ptrdiff_t{i + 1} * head.d);
      table.hadamard(row.data(), head.d);
      int32_t unused = 0;
      table.quantize_row(row.data(), head.d, depth, depth, key.data(), &k_scales[at], &unused);
      uint8_t* page = k.data() + ptrdiff_t{i / kInt8PageTokens} * kInt8PageTokens * depth;
      for (int c = 0; c < depth; ++c) {
        page[(c / 4 * kInt8PageTokens + i % kInt8PageTokens) * 4 + c % 4] =
            static_cast<uint8_t>(key[static_cast<size_t>(c)] ^ 0x80);
      }
    }
  }

  void QuantizeBlocks(const KernelTable& table, const Head& head) {
    for (int first = 0; first < head.n; first += kKeySplit) {
      Int8ValuesJob block;
      block.head_dim = head.d;
      block.tokens = std::min(kKeySplit, head.n - first);
      block.x = head.v.data() + ptrdiff_t{first} * head.d;
      block.x_stride = head.d;
      block.v = v.data() + ptrdiff_t{first} * job.stride();
      block.scales = v_scales.data() + ptrdiff_t{first / kKeySplit} * job.stride();
      block.means = v_means.data() + ptrdiff_t{first / kKeySplit} * job.stride();
      table.quantize_values(block);
    }
  }
};

// NaN equals NaN.
inline bool SameBits(const float* a, const float* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (std::isnan(a[i]) ? !std::isnan(b[i]) : std::memcmp(a + i, b + i, sizeof(float)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace platen
