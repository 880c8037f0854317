#include "model/support/large_memory.h"

#include <sys/mman.h>

#include <fstream>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace platen {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kChunk = 4 * kHugePage;

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};

// Cuts pieces from a chunk until one does not fit. Only the pieces own the chunk.
class Chunks {
 public:
  std::shared_ptr<std::byte> Cut(size_t bytes) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<std::byte> chunk = chunk_.lock();
    if (chunk == nullptr || bytes > kChunk - used_) {
      chunk = {static_cast<std::byte*>(AllocateLarge(kChunk)), Free()};
      chunk_ = chunk;
      used_ = 0;
    }
    std::byte* const piece = chunk.get() + used_;
    used_ += (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    return {std::move(chunk), piece};
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<std::byte> chunk_;
  size_t used_ = 0;
};

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

std::shared_ptr<std::byte> AllocateShared(size_t bytes) {
  if (bytes >= kHugePage) return {static_cast<std::byte*>(AllocateLarge(bytes)), Free()};
  static Chunks chunks;
  return chunks.Cut(bytes);
}

}  // namespace platen
