#include "apps/platen/cli/utc_time.h"

#include <ctime>

namespace platen {

std::string UtcTime(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts = {};
  ::gmtime_r(&time, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, length};
}

}  // namespace platen
