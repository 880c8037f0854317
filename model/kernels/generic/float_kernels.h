// The table of the kernels that are written over F32x16.
#pragma once

#include "model/kernels/generic/attention.h"
#include "model/kernels/generic/attention_heads.h"
#include "model/kernels/generic/attention_int8.h"
#include "model/kernels/generic/attention_latent.h"
#include "model/kernels/generic/elementwise.h"
#include "model/kernels/generic/gemm_f32.h"
#include "model/kernels/generic/gemm_s8.h"
#include "model/kernels/generic/hadamard.h"
#include "model/kernels/generic/norms.h"
#include "model/kernels/generic/quantize.h"
#include "model/kernels/generic/select.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// DotProduct: of the int8 product (generic/gemm_s8.h). The first of `schedules` is in use; without
// any, the int8 product does not prefetch.
template <class DotProduct>
constexpr KernelTable FloatKernels(const char* name, const GemmSchedules& schedules = {}) {
  const bool choice = schedules.count > 0;
  return {name,
          GemmF32,
          choice ? schedules.list[0].gemm_s8 : GemmS8<DotProduct, 0>,
          Attention,
          AttentionHeads,
          LatentAttention,
          AttentionInt8<SummedProducts<DotProduct>>,
          Hadamard,
          QuantizeValues,
          QuantizeRow,
          ToBf16,
          RmsNorm,
          LayerNorm,
          GeluInPlace,
          AddTo,
          RopeAdjacent,
          RopeHalf,
          Select,
          schedules,
          0,
          choice && schedules.list[0].prefetch_streams == 1};
}

}  // namespace platen::PLATEN_ISA
