#include "pipeline/page_limits.h"

#include "model/support/clock.h"
#include "model/support/number_text.h"
#include "pipeline/messages.h"

namespace platen {

Fault WhyOver(const PageSlot& page) {
  const OpenDocument& document = *page.job.document;
  if (document.cancelled) return {"cancelled", FailureCode::kCancelled};
  const TimeLimits& limits = document.limits;
  const auto longer_than = [](const char* what, double seconds) {
    return Fault{std::string(what) + " took longer than " + NumberText(seconds) + " s",
                 FailureCode::kTimeout};
  };
  if (limits.page_s > 0 && SecondsSince(page.began_ns) > limits.page_s) {
    return longer_than("the page", limits.page_s);
  }
  if (limits.document_s > 0 && SecondsSince(document.began_ns) > limits.document_s) {
    return longer_than("the document", limits.document_s);
  }
  return {};
}

}  // namespace platen
