// The vector half of the int8 product on AMX: adds the integer sums of a unit (up to 32 rows x 32
// columns, or 16 x 64) of one group of k to the float values of its block, and stores the output
// after the last group.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/activations.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// What happens to the values of a unit after a group is added.
enum class Sink {
  kValue,   // nothing: more groups follow
  kOutput,  // bias, then store or add; the values are set to 0 for the next block
  kGated,   // bias, then store silu(gate) * up, in the unit of the up columns; likewise
};

// Where the output of a block goes.
struct Target {
  float* c;  // row 0, first column of the panel
  ptrdiff_t c_stride;
  int columns;        // real ones from c on
  bool adds;          // to c
  const float* bias;  // of the panel; nullptr: none
  int first_row;      // rows before it belong to the block before, which stored them
  int rows;
};

// Integer sums of one unit that are not added to its values yet.
struct PendingSums {
  const int32_t* dots;           // [rows][V vectors]
  const float* a_scales;         // [rows, groups], of the unit's group
  const int32_t* a_corrections;  // likewise
  ptrdiff_t groups;              // stride of the two
  const float* w_scales;         // of the first column
  float* value;                  // [rows][64], at the first column
  int column;                    // the first, in the panel
  int rows;
  const Target* target;
  bool output_soon;  // prefetch the lines of the output
};

// Adds the sums of a unit to its values, row after row:
// value = fma(float(dot + correction), s_a * s_w, value).
template <int V, Sink kSink>
class Adder {
 public:
  PLATEN_INLINE explicit Adder(const PendingSums& s)
      : dots_(s.dots),
        scale_(s.a_scales),
        correction_(s.a_corrections),
        groups_(s.groups),
        value_(s.value),
        left_(s.rows),
        column_(s.column),
        target_(s.target),
        output_(s.output_soon ? s.target->c + s.column : nullptr),
        output_stride_(s.target->c_stride) {
    Unroll<V>([&](auto v)
                  __attribute__((always_inline)) { w_scales_[v] = Load(s.w_scales + v * 16); });
  }
  // The next rows, or those that are left.
  template <int kRows>
  PLATEN_INLINE void AddNext() {
    if (left_ >= kRows) {
      Unroll<kRows>([&](auto) __attribute__((always_inline)) { AddRow(); });
    } else {
      AddRest();
    }
  }
  PLATEN_INLINE void AddNext(int rows) {
    for (; rows > 0 && left_ > 0; --rows) AddRow();
  }
  PLATEN_INLINE void AddRest() {
    while (left_ > 0) AddRow();
  }

 private:
  PLATEN_INLINE void AddRow() {
    const F32x16 a_scale = Set1(*scale_);
    const __m512i correction = _mm512_set1_epi32(*correction_);
    F32x16 sum[V];
    Unroll<V>([&](auto v) __attribute__((always_inline)) {
      const __m512i dot = _mm512_add_epi32(correction, _mm512_load_si512(dots_ + v * 16));
      sum[v] =
          Fma(F32x16{_mm512_cvtepi32_ps(dot)}, Mul(a_scale, w_scales_[v]), Load(value_ + v * 16));
      if constexpr (kSink == Sink::kValue) Store(sum[v], value_ + v * 16);
    });
    if constexpr (kSink == Sink::kValue) PrefetchNextOutput();
    if constexpr (kSink == Sink::kOutput) Output(sum);
    if constexpr (kSink == Sink::kGated) OutputGated(sum);
    scale_ += groups_;
    correction_ += groups_;
    dots_ += V * 16;
    value_ += kPanelColumns;
    --left_;
  }

  PLATEN_INLINE void PrefetchNextOutput() {
    if (output_ == nullptr) return;
    Unroll<V>([&](auto v)
                  __attribute__((always_inline)) { __builtin_prefetch(output_ + v * 16, 1, 3); });
    output_ += output_stride_;
  }

  PLATEN_INLINE void AddBias(int column, F32x16& x) const {
    if (target_->bias != nullptr) x = Add(x, Load(target_->bias + column));
  }

  PLATEN_INLINE void Output(F32x16 (&sum)[V]) const {
    const Target& t = *target_;
    Unroll<V>([&](auto v) __attribute__((always_inline)) { Store(Set1(0.0F), value_ + v * 16); });
    const int row = t.rows - left_;
    if (row < t.first_row) return;
    float* c = t.c + row * t.c_stride + column_;
    Unroll<V>([&](auto v) __attribute__((always_inline)) {
      AddBias(column_ + v * 16, sum[v]);
      const int columns = t.columns - column_ - v * 16;
      if (columns > 0) {
        if (t.adds) sum[v] = Add(LoadFirst(c + v * 16, columns), sum[v]);
        StoreFirst(sum[v], c + v * 16, columns);
      }
    });
  }

  // The last two vectors of the unit are up columns; their gate columns are 32 columns before.
  PLATEN_INLINE void OutputGated(F32x16 (&sum)[V]) const {
    const Target& t = *target_;
    float* values = value_ + (V - 4) * 16;  // of the whole panel
    F32x16 gate[2];
    Unroll<2>([&](auto v) __attribute__((always_inline)) {
      if constexpr (V == 4) {
        gate[v] = sum[v];
      } else {
        gate[v] = Load(values + v * 16);
      }
    });
    Unroll<4>([&](auto v) __attribute__((always_inline)) { Store(Set1(0.0F), values + v * 16); });
    const int row = t.rows - left_;
    if (row < t.first_row) return;
    float* c = t.c + row * t.c_stride;
    Unroll<2>([&](auto v) __attribute__((always_inline)) {
      AddBias(v * 16, gate[v]);
      AddBias(32 + v * 16, sum[V - 2 + v]);
      StoreFirst(Mul(Silu(gate[v]), sum[V - 2 + v]), c + v * 16, t.columns - v * 16);
    });
  }

  const int32_t* dots_;
  const float* scale_;
  const int32_t* correction_;
  const ptrdiff_t groups_;
  float* value_;
  int left_;
  const int column_;
  const Target* const target_;
  const float* output_;  // of the next row, to be prefetched; nullptr: nothing
  const ptrdiff_t output_stride_;
  F32x16 w_scales_[V];
};

}  // namespace platen::PLATEN_ISA
