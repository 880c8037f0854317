// The int8 product on AMX: tiles of 16 rows x 64 columns, the same packed weights as VNNI and the
// same bits (sums of a group are exact integers). Everything else of this table is VNNI's.
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "model/kernels/kernels.h"

namespace platen {

KernelTable MakeAvx512VnniKernels();
bool CpuHasAmxBf16();
void AttentionBf16Amx(const AttentionJob& job);

namespace {

#include "model/kernels/lanes_avx512.inc"
//
#include "model/kernels/unroll.inc"
//
#include "model/kernels/finish_row.inc"

constexpr int kTileRows = 16;
constexpr int kTileK = 64;      // bytes of k in a tile row
constexpr int kFewestRows = 4;  // below, weights stream from memory and VNNI is as fast

// Shapes of the eight tile registers. 0-3: sums of 16 columns each; 4, 5: 64 k of activations and
// of weights; 6, 7: the same for a tail of k.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes_per_row[16] = {};
  uint8_t rows[16] = {};
};

void ConfigureTiles(int rows, int tail_k) {
  TileShapes shapes;
  for (int i = 0; i < 8; ++i) {
    shapes.bytes_per_row[i] = 64;
    shapes.rows[i] = static_cast<uint8_t>(rows);
  }
  shapes.rows[5] = kTileK / 4;
  if (tail_k > 0) {
    shapes.bytes_per_row[6] = static_cast<uint16_t>(tail_k);
    shapes.rows[7] = static_cast<uint8_t>(tail_k / 4);
  }
  _tile_loadconfig(&shapes);
}

// dots[rows][64] of one K-group, without the correction.
PLATEN_INLINE void MultiplyGroup(const int8_t* a, ptrdiff_t a_stride, const uint8_t* w, int k,
                                 int32_t* dots) {
  constexpr int kWeightStride = kPanelColumns * 4;
  constexpr int kDotStride = kPanelColumns * 4;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (; k >= kTileK; k -= kTileK, a += kTileK, w += kTileK * kPanelColumns) {
    _tile_loadd(4, a, a_stride);
    _tile_loadd(5, w, kWeightStride);
    _tile_dpbsud(0, 4, 5);
    _tile_loadd(5, w + 64, kWeightStride);
    _tile_dpbsud(1, 4, 5);
    _tile_loadd(5, w + 128, kWeightStride);
    _tile_dpbsud(2, 4, 5);
    _tile_loadd(5, w + 192, kWeightStride);
    _tile_dpbsud(3, 4, 5);
  }
  if (k > 0) {
    _tile_loadd(6, a, a_stride);
    _tile_loadd(7, w, kWeightStride);
    _tile_dpbsud(0, 6, 7);
    _tile_loadd(7, w + 64, kWeightStride);
    _tile_dpbsud(1, 6, 7);
    _tile_loadd(7, w + 128, kWeightStride);
    _tile_dpbsud(2, 6, 7);
    _tile_loadd(7, w + 192, kWeightStride);
    _tile_dpbsud(3, 6, 7);
  }
  _tile_stored(0, dots, kDotStride);
  _tile_stored(1, dots + 16, kDotStride);
  _tile_stored(2, dots + 32, kDotStride);
  _tile_stored(3, dots + 48, kDotStride);
}

// value = fma(float(dots + correction), s_a * s_w, value), from 0 for the first group.
PLATEN_INLINE void AddGroupRow(const int32_t* dots, int32_t correction, float a_scale,
                               const F32x16* w_scales, bool first, float* value) {
  const __m512i start = _mm512_set1_epi32(correction);
  const F32x16 row_scale = Set1(a_scale);
  Unroll<4>([&](auto v) __attribute__((always_inline)) {
    const __m512i sum = _mm512_add_epi32(_mm512_load_si512(dots + v * 16), start);
    const F32x16 old = first ? Set1(0.0F) : Load(value + v * 16);
    Store(Fma(F32x16{_mm512_cvtepi32_ps(sum)}, Mul(row_scale, w_scales[v]), old), value + v * 16);
  });
}

// value[rows][64] of one panel and up to 16 rows.
void MultiplyPanel(const GemmS8Job& job, int first_row, int rows, const uint8_t* panel,
                   const float* scales, float* value) {
  alignas(64) int32_t dots[kTileRows * kPanelColumns];
  const int8_t* a = job.a + first_row * job.a_stride;
  const ptrdiff_t first_group = static_cast<ptrdiff_t>(first_row) * job.groups;
  for (int g = 0; g < job.groups; ++g) {
    const int begin = g * job.group_k;
    const int end = begin + job.group_k < job.k_padded ? begin + job.group_k : job.k_padded;
    MultiplyGroup(a + begin, job.a_stride, panel + static_cast<ptrdiff_t>(begin) * kPanelColumns,
                  end - begin, dots);
    F32x16 w_scales[4];
    Unroll<4>([&](auto v) __attribute__((always_inline)) {
      w_scales[v] = Load(scales + g * kPanelColumns + v * 16);
    });
    for (int r = 0; r < rows; ++r) {
      const ptrdiff_t at = first_group + static_cast<ptrdiff_t>(r) * job.groups + g;
      AddGroupRow(dots + r * kPanelColumns, job.a_corrections[at], job.a_scales[at], w_scales,
                  g == 0, value + r * kPanelColumns);
    }
  }
}

void (*vnni_gemm_s8)(const GemmS8Job& job) = nullptr;  // set before the table is handed out

void GemmS8(const GemmS8Job& job) {
  if (job.rows < kFewestRows || job.group_k % kTileK != 0) {
    vnni_gemm_s8(job);
    return;
  }
  alignas(64) float value[kTileRows * kPanelColumns];
  const int panel_columns = job.epilogue == Epilogue::kSiluMul ? kPanelColumns / 2 : kPanelColumns;
  int configured_rows = 0;
  for (int p = 0; p < job.num_panels; ++p) {
    const uint8_t* panel = job.panels + static_cast<ptrdiff_t>(p) * job.k_padded * kPanelColumns;
    const float* scales = job.w_scales + static_cast<ptrdiff_t>(p) * job.groups * kPanelColumns;
    const float* bias = job.bias == nullptr ? nullptr : job.bias + p * kPanelColumns;
    const int left = job.columns - p * panel_columns;
    const int columns = left < panel_columns ? left : panel_columns;
    for (int first = 0; first < job.rows; first += kTileRows) {
      const int rows = job.rows - first < kTileRows ? job.rows - first : kTileRows;
      if (rows != configured_rows) ConfigureTiles(rows, job.k_padded % kTileK);
      configured_rows = rows;
      MultiplyPanel(job, first, rows, panel, scales, value);
      for (int r = 0; r < rows; ++r) {
        FinishRow(value + r * kPanelColumns, bias, job.epilogue, columns,
                  job.c + (first + r) * job.c_stride + p * panel_columns);
      }
    }
  }
  _tile_release();
}

// Linux gives a process the large tile registers only on request.
bool RequestTiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

bool CpuHasAmxInt8() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  const bool tile = (d >> 24 & 1) != 0;
  const bool int8 = (d >> 25 & 1) != 0;
  return tile && int8 && RequestTiles();
}

KernelTable MakeAmxKernels() {
  KernelTable table = MakeAvx512VnniKernels();
  vnni_gemm_s8 = table.gemm_s8;
  table.name = "amx";
  table.gemm_s8 = GemmS8;
  if (CpuHasAmxBf16()) table.attention_bf16 = AttentionBf16Amx;
  return table;
}

}  // namespace platen
