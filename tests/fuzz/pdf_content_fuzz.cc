// Content of PDF pages, and what is left of it without invisible text.
#include "stages/formats/pdf_content.h"

#include <cstdlib>

#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view content = platen::fuzz::Text({data, size});
  for (const int mode : {platen::kVisibleText, platen::kInvisibleText}) {
    const auto once = platen::WithoutInvisibleText(content, mode);
    if (!once) continue;
    if (!once->removed && once->content != content) std::abort();
    if (once->content.size() > content.size() + 32 * (content.size() / 4 + 1)) std::abort();
    // Behind an inline image less may look like content than before: then it is given up.
    const auto twice = platen::WithoutInvisibleText(once->content, mode);
    if (twice && !twice->removed && twice->content != once->content) std::abort();
  }
  return 0;
}
