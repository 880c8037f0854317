// What a hub answers, and names of models.
#include <string_view>

#include "model/hub/model_name.h"
#include "model/hub/repository_files.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  platen::fuzz::Run([&] {
    for (const platen::HubFile& file : platen::ParseTreePage(text, "hub")) {
      platen::IsSnapshotFile(file.path);
    }
  });
  platen::fuzz::Run([&] { platen::ParseCommit(text, "hub"); });
  platen::NextPage(text);
  platen::ParseModelName(text);
  return 0;
}
