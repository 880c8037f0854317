#include "tests/fuzz/image_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  platen::fuzz::FuzzImage({data, size}, platen::Jp2Size, platen::DecodeJp2);
  return 0;
}
