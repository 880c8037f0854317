// A file in the Chrome trace format (chrome://tracing, ui.perfetto.dev).
#pragma once

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

namespace platen {

// One complete event for each span, written as it ends, so that a trace of a long run takes no
// memory. Tracks belong to a group (the format's process and thread) and are named when first used.
// Thread-safe.
class TraceFile {
 public:
  enum class Group { kStages = 1, kWorkers = 2 };
  struct Track {
    Group group = Group::kStages;
    int id = 0;  // unique in its group; tracks are shown in this order
    std::string name;
  };
  struct Span {
    std::string name;
    const char* category = "";
    std::string details = "{}";  // a JSON object
    int64_t start_ns = 0;        // monotonic clock
    int64_t end_ns = 0;
  };

  // Throws Error(kEnvironment).
  explicit TraceFile(const std::string& path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();

  void Add(const Track& track, const Span& span);

  int64_t origin_ns() const { return origin_ns_; }  // when it was made: time 0 of the trace

  // Completes the JSON; nothing may be added after it. Returns why the file is not complete, in
  // words; empty if it is.
  std::string Close();

 private:
  void NameTrack(const Track& track);
  void Write(const std::string& event);

  std::mutex mutex_;
  std::FILE* file_ = nullptr;
  std::set<std::pair<Group, int>> named_;
  bool first_ = true;
  int64_t origin_ns_ = 0;
};

}  // namespace platen
