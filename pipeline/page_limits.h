// Why a page is given up before it is read: nobody wants it any more, or it has had its time.
#pragma once

#include "model/support/failure_code.h"

namespace platen {

struct PageSlot;

// Seconds by the clock; 0: no limit. What they stop is a failure, never a result: results do not
// depend on a clock.
struct TimeLimits {
  double page_s = 0;      // of a page, from its admission
  double document_s = 0;  // of a document, from its opening
};

// Empty: it goes on. Asked between the steps of a page's way, so that a step is always finished.
// Thread-safe.
Fault WhyOver(const PageSlot& page);

}  // namespace platen
