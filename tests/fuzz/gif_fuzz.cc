#include "tests/fuzz/image_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  platen::fuzz::FuzzImage({data, size}, platen::GifSize, platen::DecodeGif);
  return 0;
}
