// The namespace of the instruction set that the including file is compiled for.
//
// A header of kernels is compiled several times, each time with other compiler flags. Everything in
// it stands in `namespace platen::PLATEN_ISA`, which is `platen::scalar`, `platen::avx2` and so on,
// so that the linker never takes a function compiled for one instruction set in place of another's.
// The compiler flags of a file (CMakeLists.txt) choose it.
#pragma once

#if defined(PLATEN_SCALAR_LANES) || !defined(__AVX2__)
#define PLATEN_ISA scalar
#elif !defined(__AVX512F__)
#define PLATEN_ISA avx2
#elif defined(__AMX_INT8__) || defined(__AMXINT8__)  // GCC, Clang
#define PLATEN_ISA amx_int8
#elif defined(__AVX512VNNI__)
#define PLATEN_ISA avx512_vnni
#else
#define PLATEN_ISA avx512
#endif

// Functions that must become part of their caller, because vectors and accumulators are to stay in
// registers.
#define PLATEN_INLINE [[gnu::always_inline]] inline
