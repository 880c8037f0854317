// The ledger that an earlier run left in the output folder.
#include "pipeline/ledger.h"
#include "pipeline/status.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const platen::fuzz::ScratchFolder folder;
  std::filesystem::create_directories(folder.path() + "/.platen");
  folder.Write(".platen/ledger.jsonl", platen::fuzz::Text({data, size}));
  platen::fuzz::Run([&] {
    const platen::Ledger ledger(folder.path(), {{"fingerprint"}, {"fingerprint"}, {"txt"}});
    platen::InputDocument input;
    input.path = input.output = "a.tif";
    const platen::DocumentRecord* record = ledger.Find("a.tif");
    if (record != nullptr) ledger.IsFinished(record->input, input, {{2, 5}});
    ledger.IsFinished({}, input, {});
    ledger.HoldsSuccess(input);
    platen::ReadStatus(folder.path());
  });
  return 0;
}
