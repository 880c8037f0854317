// Times as reports show them.
#pragma once

#include <cstdint>
#include <string>

namespace platen {

// "2026-11-23T04:05:06Z", of seconds since 1970.
std::string UtcTime(int64_t seconds);

}  // namespace platen
