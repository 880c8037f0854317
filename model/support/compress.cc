#include "model/support/compress.h"

#include <zstd.h>

#include <new>

namespace platen {

std::string Compress(std::string_view bytes) {
  constexpr int kLevel = 3;
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // nothing else can fail here
  out.resize(size);
  return out;
}

std::optional<std::string> Decompress(std::string_view compressed, size_t max_bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > max_bytes) {
    return std::nullopt;
  }
  std::string out(static_cast<size_t>(size), '\0');
  const size_t done = ZSTD_decompress(out.data(), out.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(done) != 0 || done != out.size()) return std::nullopt;
  return out;
}

}  // namespace platen
