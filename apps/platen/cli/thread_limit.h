// --threads: no more threads than that, to the end of the process.
#pragma once

namespace platen {

// From now on the worker pool and the calling thread are `threads` threads together.
void LimitThreads(int threads);

// Ends the threads that OpenBLAS starts when it is loaded, one for every CPU but one. OpenCV brings
// it in where it is the system's LAPACK; platen calls nothing of it, and its threads would spin for
// some 0.1 s each before they sleep. Nothing happens where it is not loaded. Call before other
// threads exist.
void EndBlasThreads();

}  // namespace platen
