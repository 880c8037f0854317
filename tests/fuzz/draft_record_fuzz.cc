// A record of a page, as training of drafts reads it.
#include "model/training/page_record.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  platen::fuzz::Run([&] {
    platen::RecordedWith with;
    platen::ParseRecord({reinterpret_cast<const char*>(data), size}, "record", with);
  });
  return 0;
}
