// Attention alone, for `platen bench kernels`.
#pragma once

#include <cstdint>

#include "bench/kernel_bench.h"
#include "model/families/vision_model.h"
#include "model/kernels/kernels.h"

namespace platen::bench {

constexpr const char* kVisionHead = "vision head";  // layers of the rows
constexpr const char* kDecodeStep = "decode step";

// One head of 64 over all patches of an image; quantising, packing and softmax included.
KernelRow BenchVisionAttention(const KernelTable& kernels, VisionAttention attention,
                               int64_t patches, int repetitions);

// One token of each of `sequences` over its `context` earlier ones: 16 layers of 8 KV heads of 128,
// two query heads each, as the released GLM-OCR has them. The share is that of the memory rate,
// with every key and value read once.
KernelRow BenchDecodeAttention(const KernelTable& kernels, KvType type, int64_t sequences,
                               int64_t context, int repetitions);

}  // namespace platen::bench
