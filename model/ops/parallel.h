// Parallel loops on the shared worker pool.
#pragma once

#include <cstdint>
#include <type_traits>

namespace platen {

// A non-owning reference to a callable; lives as long as the call it is passed to.
class IndexFunction {
 public:
  template <class F>
  IndexFunction(const F& f)  // NOLINT: implicit on purpose, like std::function_ref
      : object_(&f), call_([](const void* o, int64_t i) { (*static_cast<const F*>(o))(i); }) {}
  void operator()(int64_t i) const { call_(object_, i); }

 private:
  const void* object_;
  void (*call_)(const void*, int64_t);
};

// Calls body(i) for i in [0, n), possibly on several threads of the current TBB arena; returns when
// all are done. The caller takes part, and while it waits it runs only iterations of this loop, so
// that a decode step is never delayed by a page that happens to be decoded nearby. Bodies must
// write to disjoint places; the result must not depend on which thread runs what. The first
// exception of a body is rethrown and stops bodies that have not begun; nothing else does, whatever
// becomes of the work that the call is part of.
void ParallelFor(int64_t n, IndexFunction body);

// Threads that may take part in a loop of this thread's.
int ParallelThreads();

}  // namespace platen
