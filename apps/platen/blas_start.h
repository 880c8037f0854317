// OpenBLAS reads its environment when it is loaded, before main: OpenCV brings it in, and
// --f32-gemm openblas uses it.
#pragma once

#include <string>

namespace platen {

// Starts the program again (same words, same process) with OPENBLAS_NUM_THREADS=1, because
// --threads counts every thread, and with OPENBLAS_CORETYPE set where OpenBLAS does not know this
// CPU, unless it is set already. Returns if nothing is to be changed, or if it cannot be.
void StartWithBlasSettings(char** argv);

// The core type OPENBLAS_CORETYPE names, whoever set it; "" if none.
std::string BlasCoreAskedFor();
// The core type OpenBLAS had chosen before StartWithBlasSettings set another; "" if it set none.
std::string BlasCoreBeforeCorrection();

}  // namespace platen
