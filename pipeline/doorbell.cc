#include "pipeline/doorbell.h"

#include <utility>

namespace platen {

void Doorbell::Ring() {
  const std::lock_guard lock(mutex_);
  if (wake_) {
    wake_();
    return;
  }
  rung_ = true;
  rang_.notify_all();
}

void Doorbell::Attach(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void Doorbell::Detach() {
  const std::lock_guard lock(mutex_);
  wake_ = nullptr;
}

void Doorbell::Wait() {
  std::unique_lock lock(mutex_);
  rang_.wait(lock, [&] { return rung_; });
  rung_ = false;
}

}  // namespace platen
