#include "model/support/large_memory.h"

#include <sys/mman.h>

#include <fstream>
#include <limits>
#include <new>
#include <string>

namespace platen {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

// "always [madvise] never": the one in brackets holds.
bool HasHugePages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  return std::getline(file, modes) && modes.find("[never]") == std::string::npos;
}

void* AllocateLarge(size_t bytes) {
  const size_t alignment = bytes < kHugePage ? kCacheLine : kHugePage;
  if (bytes > std::numeric_limits<size_t>::max() - alignment) throw std::bad_alloc();
  // aligned_alloc wants whole multiples of the alignment.
  const size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size);
  if (memory == nullptr && size > 0) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(memory, size, MADV_HUGEPAGE);  // advice: no error counts
  return memory;
}

}  // namespace platen
