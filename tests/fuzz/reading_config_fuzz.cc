// platen.json of a snapshot.
#include "model/families/reading_config.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const platen::fuzz::MemoryFile file({data, size});
  platen::fuzz::Run([&] { platen::ReadReadingConfig(file.path(), "<|image|>"); });
  platen::fuzz::Run([&] { platen::ReadQuantizationPlan(file.path()); });
  return 0;
}
