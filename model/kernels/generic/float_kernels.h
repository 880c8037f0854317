// The table of the kernels that are written over F32x16.
#pragma once

#include "model/kernels/generic/attention.h"
#include "model/kernels/generic/attention_bf16.h"
#include "model/kernels/generic/attention_bf16_dot.h"
#include "model/kernels/generic/attention_heads.h"
#include "model/kernels/generic/elementwise.h"
#include "model/kernels/generic/gemm_f32.h"
#include "model/kernels/generic/gemm_s8.h"
#include "model/kernels/generic/norms.h"
#include "model/kernels/generic/quantize.h"
#include "model/kernels/generic/select.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// DotProduct: of the int8 product (generic/gemm_s8.h), here without fetching.
template <class DotProduct>
constexpr KernelTable FloatKernels(const char* name) {
  return {name,
          GemmF32,
          GemmS8<DotProduct, WeightFetch::kNone>,
          Attention,
          AttentionHeads,
          AttentionBf16,
          AttentionBf16Dot<WidenedPairs>,
          QuantizeRow,
          ToBf16,
          RmsNorm,
          LayerNorm,
          GeluInPlace,
          AddTo,
          RopeAdjacent,
          RopeHalf,
          Select,
          {},
          false};
}

}  // namespace platen::PLATEN_ISA
