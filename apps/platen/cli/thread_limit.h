// --threads, kept to the end of the process.
#pragma once

namespace platen {

// From now on the worker pool and the calling thread are `threads` threads together.
void LimitThreads(int threads);

}  // namespace platen
