#include "pipeline/trace_file.h"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "model/support/clock.h"
#include "model/support/error.h"

namespace platen {
namespace {

std::string Dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::ordered_json Metadata(const char* what, TraceFile::Group group, int id,
                                const nlohmann::ordered_json& args) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", static_cast<int>(group)}, {"tid", id}, {"args", args}};
}

}  // namespace

TraceFile::TraceFile(const std::string& path) : origin_ns_(MonotonicNs()) {
  file_ = std::fopen(path.c_str(), "we");
  if (file_ == nullptr) {
    throw Error(ErrorKind::kEnvironment, {path, ""},
                "cannot write the trace: " + std::generic_category().message(errno));
  }
  std::fputs("[", file_);
  Write(Dump(Metadata("process_name", Group::kStages, 0, {{"name", "stages"}})));
  Write(Dump(Metadata("process_name", Group::kWorkers, 0, {{"name", "workers"}})));
}

TraceFile::~TraceFile() { Close(); }

std::string TraceFile::Close() {
  if (file_ == nullptr) return "";
  std::fputs("\n]\n", file_);
  const bool failed = std::ferror(file_) != 0;
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  return failed || !closed ? "the trace could not be written completely" : "";
}

void TraceFile::Add(const Track& track, const Span& span) {
  char times[80];
  std::snprintf(times, sizeof(times), ",\"ts\":%.3f,\"dur\":%.3f,\"args\":",
                static_cast<double>(span.start_ns - origin_ns_) / 1000.0,
                static_cast<double>(span.end_ns - span.start_ns) / 1000.0);
  const std::string event = "{\"ph\":\"X\",\"name\":" + Dump(span.name) + ",\"cat\":\"" +
                            span.category +
                            "\",\"pid\":" + std::to_string(static_cast<int>(track.group)) +
                            ",\"tid\":" + std::to_string(track.id) + times + span.details + "}";
  const std::lock_guard lock(mutex_);
  NameTrack(track);
  Write(event);
}

void TraceFile::NameTrack(const Track& track) {
  if (!named_.insert({track.group, track.id}).second) return;
  Write(Dump(Metadata("thread_name", track.group, track.id, {{"name", track.name}})));
  Write(Dump(Metadata("thread_sort_index", track.group, track.id, {{"sort_index", track.id}})));
}

void TraceFile::Write(const std::string& event) {
  std::fputs(first_ ? "\n" : ",\n", file_);
  first_ = false;
  std::fputs(event.c_str(), file_);
}

}  // namespace platen
