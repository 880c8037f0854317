// Memory for matrices: aligned, and in huge pages where there is much of it. Kernels walk rows and
// panels that lie a page or more apart; small pages of such a walk are scattered over the memory
// and over the sets of the caches, and each needs an address translation of its own.
#pragma once

#include <cstddef>
#include <memory>

namespace platen {

// Uninitialised memory at a multiple of 64 bytes; pieces of a huge page and more at a multiple of
// one, in huge pages if the kernel has them. To be freed with FreeLarge. Throws std::bad_alloc.
// Pieces of 32 KiB and more are mapped and unmapped each by itself: scratch that lives as long as
// the process and grows with the widest batch would leave holes in the heap otherwise.
void* AllocateLarge(size_t bytes);

// Frees what AllocateLarge has given for so many bytes; nullptr is nothing.
void FreeLarge(void* memory, size_t bytes);

// Uninitialised memory at a multiple of 64 bytes, freed with the last copy of the pointer. Pieces
// smaller than a huge page lie one behind another in larger memory, in the order in which they are
// asked for, so that the weights of many small layers are in huge pages too; it is freed with the
// last of its pieces. Thread-safe. Throws std::bad_alloc.
std::shared_ptr<std::byte> AllocateShared(size_t bytes);

// Whether the kernel gives huge pages to those who ask.
bool HasHugePages();

// The same for standard containers.
template <class T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) {}  // NOLINT: as containers want it

  T* allocate(size_t n) { return static_cast<T*>(AllocateLarge(n * sizeof(T))); }
  void deallocate(T* p, size_t n) { FreeLarge(p, n * sizeof(T)); }
  bool operator==(const LargeAllocator&) const { return true; }
};

}  // namespace platen
