// Lists of names, page ranges, and the order of names.
#include "stages/inputs/discover.h"
#include "stages/inputs/input_names.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(platen::fuzz::Text({data, size}));
  std::vector<std::string> names;
  for (const auto& input : platen::ParseNameList(text)) names.push_back(input.name);
  for (size_t i = 0; i < names.size(); ++i) {
    platen::Normalised(names[i]);
    const std::string& other = names[(i + 1) % names.size()];
    if (platen::NaturalLess(names[i], other) && platen::NaturalLess(other, names[i])) std::abort();
  }
  platen::fuzz::Run([&] { platen::SelectPages(platen::ParsePageRanges(text), 100); });
  return 0;
}
