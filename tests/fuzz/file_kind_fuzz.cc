// What a file is, told from its first bytes.
#include "stages/readers/file_kind.h"
#include "stages/readers/input_file.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using platen::fuzz::Text;
  const std::string_view head = Text({data, std::min(size, platen::kFileHeadBytes)});
  for (const char* name : {"a", "a.pnm", "a.pdf", "a.tif"}) platen::KindOf(head, name);
  const platen::fuzz::MemoryFile file({data, size});
  platen::fuzz::Run([&] { platen::LookAtFile(platen::InputFile(file.path())); });
  return 0;
}
