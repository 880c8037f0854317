// The configuration files of a layout model. The first byte of the input says which of them the
// rest is: c config.json, p preprocessor_config.json; the other is valid.
#include "model/families/registry.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/snapshot_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const platen::fuzz::ScratchFolder folder;
  if (size == 0) return 0;
  const std::string_view text = platen::fuzz::Text({data + 1, size - 1});
  folder.Write("config.json", data[0] == 'c' ? text : platen::fuzz::kLayoutConfig);
  folder.Write("preprocessor_config.json",
               data[0] == 'p' ? text : platen::fuzz::kLayoutPreprocessor);
  platen::fuzz::Run([&] {
    const auto architecture = platen::FamilyRegistry::BuiltIn().ReadLayout(folder.path());
    architecture->Modules();
    architecture->Facts();
  });
  return 0;
}
