#include "model/support/file_call.h"

#include <mutex>

#include "model/support/clock.h"

namespace platen {
namespace {

// All calls that are going on, in the order in which they were entered; what they refer to lives as
// long as they are in it.
std::mutex mutex;
FileCall* last = nullptr;
FileCall* first = nullptr;

}  // namespace

FileCall::FileCall(const std::string& path, std::string_view name)
    : path_(path), name_(name), since_ns_(MonotonicNs()) {
  const std::lock_guard lock(mutex);
  earlier_ = last;
  (last == nullptr ? first : last->later_) = this;
  last = this;
}

FileCall::~FileCall() {
  const std::lock_guard lock(mutex);
  (earlier_ == nullptr ? first : earlier_->later_) = later_;
  (later_ == nullptr ? last : later_->earlier_) = earlier_;
}

std::optional<FileCall::Waiting> FileCall::Longest() {
  const std::lock_guard lock(mutex);
  if (first == nullptr) return std::nullopt;
  Waiting waiting{first->path_, first->since_ns_};
  if (!first->name_.empty()) waiting.path.append("/").append(first->name_);
  return waiting;
}

}  // namespace platen
