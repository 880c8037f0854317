// One live line on a terminal, a dated line every few seconds elsewhere; on standard error.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace platen {

// Thread-safe. It has no thread: it is shown when Show is called and it is time.
class LiveLine {
 public:
  // `interval_s` between lines where standard error is no terminal, 0: none, not even on a
  // terminal; `quiet`: nothing is shown.
  LiveLine(double interval_s, bool quiet);

  // `text` is called, with the seconds since the beginning, if it is time.
  // `members`: more about it, where messages are lines of JSON.
  void Show(const std::function<std::string(double elapsed_s)>& text,
            const std::function<nlohmann::ordered_json()>& members = nullptr);
  void Finish();  // takes the live line away

 private:
  std::mutex mutex_;
  bool quiet_;
  bool terminal_;
  bool shown_ = false;
  int64_t interval_ns_;
  int64_t start_ns_;
  int64_t next_ns_;
};

}  // namespace platen
