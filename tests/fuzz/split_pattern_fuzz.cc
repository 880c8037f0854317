// The regular expression of a tokenizer.json, and a text that is cut by it.
#include "model/tokenizer/split_pattern.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string pattern(platen::fuzz::Text({data, size}));
  platen::fuzz::Run([&] {
    const platen::SplitPattern split(pattern, "tokenizer.json", "pattern");
    for (const std::string& text : {std::string("Text Recognition:\n\n it's 123 \xc3\xa4\xc3\xa4"),
                                    std::string(200, 'a') + "b"}) {
      std::vector<std::string_view> pieces;
      platen::fuzz::Run([&] { split.Split(text, pieces); });
    }
  });
  return 0;
}
