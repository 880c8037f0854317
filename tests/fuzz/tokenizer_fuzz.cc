// tokenizer.json, and texts through what is accepted.
#include "model/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const platen::fuzz::MemoryFile file({data, size});
  platen::fuzz::Run([&] {
    const platen::Tokenizer tokenizer = platen::Tokenizer::Load(file.path());
    for (const char* text : {"Text Recognition:", "  a\n\n b1 <|user|>\xff\xc3\xa4"}) {
      platen::fuzz::Run([&] { tokenizer.Decode(tokenizer.Encode(text), /*skip_special=*/false); });
    }
    tokenizer.Decode(std::vector<platen::TokenId>{0, 1, tokenizer.max_id()}, true);
  });
  return 0;
}
