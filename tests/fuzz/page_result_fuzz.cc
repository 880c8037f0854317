// The result of a page that an earlier run left in the output folder.
#include "stages/formats/page_json.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  platen::fuzz::Run([&] {
    const platen::PageResult page = platen::PageFromJson(platen::fuzz::Text({data, size}));
    platen::PageToPrettyJson(platen::PageFromJson(platen::PageToJson(page)), 1);
  });
  return 0;
}
