// The file of --draft-vocabulary.
#include "model/engine/drafters/draft_vocabulary.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const platen::fuzz::MemoryFile file({data, size});
  platen::fuzz::Run([&] { platen::ReadDraftVocabulary(file.path(), 320); });
  return 0;
}
