#include "stages/readers/multi_page.h"
#include "tests/fuzz/image_target.h"

namespace {

constexpr int kMaxPages = 4;

void ReadPages(const platen::DocumentReader& reader) {
  for (int page = 0; page < std::min(reader.num_pages(), kMaxPages); ++page) {
    platen::fuzz::Run([&] { reader.PageSize(page); });
    platen::fuzz::Run([&] { platen::fuzz::CheckPage(reader.ReadPage(page)); });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const platen::fuzz::MemoryFile file({data, size});
  platen::fuzz::Run(
      [&] { ReadPages(*platen::OpenTiff(file.path(), platen::fuzz::Limits(size % 2 == 1))); });
  return 0;
}
