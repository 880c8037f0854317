// What goes wrong with one thing among many stays with it.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "model/support/error.h"

namespace platen {

// Runs `work` and returns why it failed; empty if it did not. Nothing escapes.
// The file's name is left out: the reason goes into its outputs, which do not depend on where the
// inputs lie. `unknown`: the code of what says nothing of itself.
template <typename Work>
Fault AttemptWith(FailureCode unknown, Work&& work) {
  try {
    work();
    return {};
  } catch (const Error& e) {
    return {Error(e.kind(), {"", e.location().field, e.location().offset}, e.reason()).what(),
            e.code()};
  } catch (const std::bad_alloc&) {
    return {"not enough memory", FailureCode::kOutOfMemory};
  } catch (const std::exception& e) {
    const std::string reason = e.what();
    return {reason.empty() ? "unknown error" : reason, unknown};
  }
}

// The same in words alone.
template <typename Work>
std::string Attempt(Work&& work) {
  return AttemptWith(FailureCode::kInternal, std::forward<Work>(work)).text;
}

}  // namespace platen
