// Attention of the image encoder in exact integers, written out: what every kernel must give, bit
// for bit. One head of one crop; n patches, head width d; q, k, v [n][d] after norm and rotation.
//
//   scores         s8 x s8, a scale for each row, after a Hadamard rotation of the head
//   probabilities  255 steps, relative to the maximum of the row's block of 256 keys
//   values         s8 for each channel and block, after the block's mean is taken off; the mean
//                  comes back with the block's sum of probabilities of 15 bits
//
// All sums of products are integers below 2^24, so no order of theirs matters; blocks are joined in
// f32, ascending. f32 steps round to nearest even and fuse only where std::fma stands.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace platen::testing {

class PlainAttentionInt8 {
 public:
  static constexpr int kBlock = 256;

  // scale: of the scores.
  PlainAttentionInt8(int n, int d, const float* k, const float* v, float scale)
      : n_(n), d_(d), hadamard_((d & (d - 1)) == 0) {
    factor_ = scale * 1.44269504F / (hadamard_ ? static_cast<float>(d) : 1.0F);
    for (int j = 0; j < n; ++j) keys_.push_back(Quantize(k + static_cast<ptrdiff_t>(j) * d));
    for (int first = 0; first < n; first += kBlock) QuantizeValues(v, first);
    for (const Row& key : keys_) bad_ = bad_ || !(key.scale < kLargestScale);
    for (const Values& b : blocks_) {
      for (int c = 0; c < d; ++c) {
        const auto i = static_cast<size_t>(c);
        bad_ = bad_ || !(b.scale[i] < kLargestValue) || !(std::abs(b.mean[i]) < kLargestValue);
      }
    }
  }

  // out [d]: of one query.
  void Attend(const float* q, float* out) const {
    const Row query = Quantize(q);
    const float sq = query.scale * factor_;
    if (bad_ || !(query.scale < kLargestScale) || std::isnan(sq)) {
      std::fill_n(out, d_, std::numeric_limits<float>::quiet_NaN());
      return;
    }
    float m = kLowest, l = 0;
    std::vector<float> o(static_cast<size_t>(d_), 0.0F);
    for (size_t b = 0; b < blocks_.size(); ++b) JoinBlock(query, sq, b, m, l, o);
    const float inverse = 1.0F / l;
    for (int c = 0; c < d_; ++c) out[c] = o[static_cast<size_t>(c)] * inverse;
  }

  // 32640 * 2^x, x <= 0, within 3.1; 0 below -40.
  static int32_t Exponential(float x) {
    const float whole = std::nearbyint(x), r = x - whole;
    if (x < -40.0F) return 0;
    const float p =
        std::fma(std::fma(std::fma(1795.49146F, r, 7905.76563F), r, 22628.7539F), r, 32640.0F);
    return static_cast<int32_t>(std::nearbyint(std::ldexp(p, static_cast<int>(whole))));
  }

 private:
  static constexpr float kLowest = -3.0e38F;
  static constexpr float kLargestScale = 1048576.0F;  // 2^20
  static constexpr float kLargestValue = 0x1p90F;
  static constexpr float kTiny = 1e-30F;

  struct Row {
    std::vector<int32_t> values;
    float scale = 0;
  };
  struct Values {
    int count = 0;
    std::vector<int32_t> values;  // [count][d]
    std::vector<float> mean, scale;
  };

  Row Quantize(const float* x) const {
    std::vector<float> row(x, x + d_);
    for (int h = 1; hadamard_ && h < d_; h *= 2) {
      for (int i = 0; i < d_; ++i) {
        if ((i & h) != 0) continue;
        float& a = row[static_cast<size_t>(i)];
        float& b = row[static_cast<size_t>(i + h)];
        const float sum = a + b, difference = a - b;
        a = sum;
        b = difference;
      }
    }
    float most = 0;
    bool finite = true;
    for (const float value : row) {
      finite = finite && std::isfinite(value);
      most = std::max(most, std::abs(value));
    }
    Row out = {std::vector<int32_t>(row.size(), 0), most / 127.0F};
    if (!finite) out.scale = std::numeric_limits<float>::quiet_NaN();
    if (!finite || most <= kTiny) return out;
    const float inverse = 127.0F / most;
    for (size_t i = 0; i < row.size(); ++i) {
      out.values[i] = static_cast<int32_t>(std::nearbyint(row[i] * inverse));
    }
    return out;
  }

  void QuantizeValues(const float* v, int first) {
    Values b;
    b.count = std::min(kBlock, n_ - first);
    b.values.assign(static_cast<size_t>(b.count * d_), 0);
    for (int c = 0; c < d_; ++c) {
      const auto at = [&](int j) { return v[static_cast<ptrdiff_t>(first + j) * d_ + c]; };
      float sum = 0;
      for (int j = 0; j < b.count; ++j) sum += at(j);
      const float mean = sum / static_cast<float>(b.count);
      float most = 0;
      bool finite = std::isfinite(mean);
      for (int j = 0; j < b.count; ++j) {
        const float centred = at(j) - mean;
        finite = finite && std::isfinite(centred);
        most = std::max(most, std::abs(centred));
      }
      b.mean.push_back(mean);
      b.scale.push_back(finite ? most / 127.0F * 128.0F : std::numeric_limits<float>::quiet_NaN());
      if (!finite || most <= kTiny) continue;
      const float inverse = 127.0F / most;
      for (int j = 0; j < b.count; ++j) {
        b.values[static_cast<size_t>(j * d_ + c)] =
            static_cast<int32_t>(std::nearbyint((at(j) - mean) * inverse));
      }
    }
    blocks_.push_back(std::move(b));
  }

  // The project's 2^x, of degree 5.
  static float Exp2(float x) {
    x = -125.0F > x ? -125.0F : x;
    const float shifted = x + 12582912.0F, r = x - (shifted - 12582912.0F);
    float p = 1.3264727e-3F;
    for (const float c : {9.671513e-3F, 5.5507336e-2F, 2.4022242e-1F, 6.93147e-1F, 1.0F}) {
      p = std::fma(p, r, c);
    }
    uint32_t bits = 0, exponent = 0;
    std::memcpy(&bits, &p, 4);
    std::memcpy(&exponent, &shifted, 4);
    bits += exponent << 23;
    std::memcpy(&p, &bits, 4);
    return p;
  }

  void JoinBlock(const Row& query, float sq, size_t b, float& m, float& l,
                 std::vector<float>& o) const {
    const Values& block = blocks_[b];
    std::vector<float> t;
    float top = kLowest;
    for (int j = 0; j < block.count; ++j) {
      const Row& key = keys_[b * kBlock + static_cast<size_t>(j)];
      int32_t dot = 0;
      for (size_t c = 0; c < key.values.size(); ++c) dot += query.values[c] * key.values[c];
      t.push_back(static_cast<float>(dot) * key.scale);
      top = std::max(top, t.back());
    }
    const float highest = top * sq, next = highest > m ? highest : m;
    const float older = Exp2(m - next), newer = Exp2(highest - next);
    m = next;
    int32_t total = 0;
    std::vector<int32_t> sums(static_cast<size_t>(d_), 0);
    for (int j = 0; j < block.count; ++j) {
      const int32_t e = Exponential((t[static_cast<size_t>(j)] - top) * sq);
      const int32_t p = (e + 64) >> 7;
      total += e;
      for (int c = 0; c < d_; ++c) {
        sums[static_cast<size_t>(c)] += p * block.values[static_cast<size_t>(j * d_ + c)];
      }
    }
    const auto sum = static_cast<float>(total);
    l = std::fma(sum, newer, l * older);
    for (size_t c = 0; c < o.size(); ++c) {
      const float value =
          std::fma(static_cast<float>(sums[c]), block.scale[c], sum * block.mean[c]);
      o[c] = std::fma(value, newer, o[c] * older);
    }
  }

  int n_, d_;
  bool hadamard_;
  float factor_;  // of the scores, to powers of two
  bool bad_ = false;
  std::vector<Row> keys_;
  std::vector<Values> blocks_;
};

}  // namespace platen::testing
