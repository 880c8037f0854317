// Errors of files that cannot be read. Their reasons stand alone in outputs, without the file's
// name, so each is a phrase of its own.
#pragma once

#include <cstdint>
#include <string>

#include "model/support/failure_code.h"

namespace platen {

// Throws Error(kInput): "path: reason".
[[noreturn]] void ThrowUnreadable(const std::string& path, const std::string& reason,
                                  FailureCode code = FailureCode::kDecodeError);

// The same with the reason "cut off at byte 16,425 (PNG)": a file of that many bytes that should
// have more.
[[noreturn]] void ThrowCutOff(const std::string& path, uint64_t num_bytes, const char* format);

// The same with the reason "damaged at byte 33 (PNG: IHDR: CRC error)".
[[noreturn]] void ThrowDamaged(const std::string& path, uint64_t offset, const char* format,
                               const std::string& what);

// Their reasons alone, for messages that are kept.
std::string CutOffReason(uint64_t num_bytes, const char* format);

}  // namespace platen
