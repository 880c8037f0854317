// A checkpoint file: header and byte ranges, and the values of what is accepted.
#include "model/checkpoint/safetensors.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const platen::fuzz::MemoryFile file({data, size});
  platen::fuzz::Run([&] {
    const platen::MappedFile mapped(file.path());
    std::map<std::string, std::string> metadata;
    for (const platen::StoredTensor& tensor : platen::ReadSafetensors(mapped, metadata)) {
      std::vector<float> values(static_cast<size_t>(tensor.num_elements()));
      platen::fuzz::Run([&] { platen::WidenToF32(tensor, values); });
    }
  });
  return 0;
}
