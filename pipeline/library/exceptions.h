// From the errors inside to the exceptions of the library's interface.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "model/support/error.h"
#include "platen/exception.h"

namespace platen {

Exception ToException(const Error& error);

// Runs `work`; whatever it throws leaves as an Exception.
template <typename Work>
auto AtTheBoundary(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Exception&) {
    throw;
  } catch (const Error& e) {
    throw ToException(e);
  } catch (const std::bad_alloc&) {
    throw Exception(Exception::Cause::kEnvironment, "not enough memory");
  } catch (const std::exception& e) {
    throw Exception(Exception::Cause::kEnvironment, e.what());
  }
}

}  // namespace platen
