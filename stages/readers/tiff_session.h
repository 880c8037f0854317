// One TIFF page opened in libtiff, with libtiff's complaints collected instead of printed.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <string>

#include "stages/readers/document_reader.h"
#include "stages/readers/input_file.h"

namespace platen {

// Used by one thread; sessions of different threads do not meet. `file` must outlive it.
class TiffSession {
 public:
  // libtiff allocates no block of more than `max_block_bytes`. Throws Error(kInput) if there is no
  // readable directory at `directory_offset`.
  TiffSession(const InputFile& file, uint64_t directory_offset, int64_t max_block_bytes);
  TiffSession(const TiffSession&) = delete;
  TiffSession& operator=(const TiffSession&) = delete;
  ~TiffSession();

  TIFF* tiff() const { return tiff_; }
  const std::string& path() const { return state_.file->path(); }

  // The first harmless irregularity; empty if there was none.
  const std::string& warning() const { return state_.warning; }

  // A single-valued tag, its default, or `fallback`. T is the tag's type in libtiff.
  template <class T>
  T Field(uint32_t tag, T fallback) const {
    T value = fallback;
    TIFFGetFieldDefaulted(tiff_, tag, &value);
    return value;
  }

  // Throws Error(kInput): the file is cut off, or libtiff's first complaint, or `reason` if it had
  // none.
  [[noreturn]] void FailDamaged(const std::string& reason) const;
  void FailIfDamaged() const {
    if (!state_.error.empty()) FailDamaged("");
  }
  // Throws Error(kInput).
  [[noreturn]] void Fail(const std::string& reason) const;

  // What libtiff's callbacks see.
  struct State {
    const InputFile* file = nullptr;
    uint64_t position = 0;
    std::string error;
    std::string warning;
    bool ended_early = false;  // libtiff asked for bytes behind the end of the file
  };

 private:
  State state_;
  TIFF* tiff_ = nullptr;
};

}  // namespace platen
