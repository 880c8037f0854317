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
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kOwnMapping = kHugePage;  // AddressSanitizer watches the heap alone
#else
constexpr size_t kOwnMapping = size_t{32} << 10;
#endif

bool IsMapped(size_t bytes) { return bytes >= kOwnMapping && bytes < kHugePage; }

struct FreeChunk {
  void operator()(std::byte* p) const { FreeLarge(p, kChunk); }
};

// Cuts pieces from a chunk until one does not fit. Only the pieces own the chunk.
class Chunks {
 public:
  std::shared_ptr<std::byte> Cut(size_t bytes) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<std::byte> chunk = chunk_.lock();
    if (chunk == nullptr || bytes > kChunk - used_) {
      chunk = {static_cast<std::byte*>(AllocateLarge(kChunk)), FreeChunk()};
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
  if (IsMapped(bytes)) {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return memory;
  }
  const size_t alignment = bytes < kHugePage ? kCacheLine : kHugePage;
  if (bytes > std::numeric_limits<size_t>::max() - alignment) throw std::bad_alloc();
  // aligned_alloc wants whole multiples of the alignment.
  const size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size);
  if (memory == nullptr && size > 0) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(memory, size, MADV_HUGEPAGE);  // advice: no error counts
  return memory;
}

void FreeLarge(void* memory, size_t bytes) {
  if (IsMapped(bytes)) {
    munmap(memory, bytes);
  } else {
    std::free(memory);
  }
}

std::shared_ptr<std::byte> AllocateShared(size_t bytes) {
  if (bytes >= kHugePage) {
    return {static_cast<std::byte*>(AllocateLarge(bytes)),
            [bytes](std::byte* p) { FreeLarge(p, bytes); }};
  }
  static Chunks chunks;
  return chunks.Cut(bytes);
}

}  // namespace platen
