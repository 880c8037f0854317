// The configuration files of a snapshot. The first byte of the input says which of them the rest
// is: c config.json, g generation_config.json, p preprocessor_config.json; the others are valid. t
// is config.json without other token ids beside it. What is accepted is described module by module.
#include "model/families/architecture.h"
#include "model/families/registry.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/snapshot_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const platen::fuzz::ScratchFolder folder;
  if (size == 0) return 0;
  const std::string_view text = platen::fuzz::Text({data + 1, size - 1});
  const bool alone = data[0] == 't';
  folder.Write("config.json", data[0] == 'c' || alone ? text : platen::fuzz::kConfig);
  folder.Write("generation_config.json", data[0] == 'g' ? text
                                         : alone        ? "{}"
                                                        : platen::fuzz::kGeneration);
  folder.Write("preprocessor_config.json", data[0] == 'p' ? text : platen::fuzz::kPreprocessor);
  platen::fuzz::Run([&] { platen::FamilyRegistry::BuiltIn().Read(folder.path())->Modules(); });
  return 0;
}
