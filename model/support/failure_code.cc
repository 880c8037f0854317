#include "model/support/failure_code.h"

#include <array>

namespace platen {
namespace {

// By the values of FailureCode.
constexpr std::array kNames = {"decode_error",  "unsupported", "encrypted",    "too_large",
                               "not_found",     "unreadable",  "no_such_page", "timeout",
                               "out_of_memory", "model",       "output",       "missing_program",
                               "cancelled",     "internal"};
static_assert(kNames.size() == static_cast<size_t>(FailureCode::kInternal) + 1);

}  // namespace

const char* FailureCodeName(FailureCode code) { return kNames[static_cast<size_t>(code)]; }

std::optional<FailureCode> FailureCodeFrom(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<FailureCode>(i);
  }
  return std::nullopt;
}

}  // namespace platen
