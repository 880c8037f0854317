// Decoders of single-image formats: from the bytes of a whole file to an upright RGB page.
//
// All are pure functions of their input and may run in several threads at once. They throw
// Error(kInput) naming `path` (used for nothing else) for anything they cannot decode, print
// nothing, and check the size in the header against `limits` before they allocate.
//
// The functions for sizes read the header alone, at most some 64 KiB of the file. They throw
// Error(kInput) if it is damaged; whether the size is a sensible one is not checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "stages/readers/document_reader.h"
#include "stages/readers/input_file.h"

namespace platen {

struct EncodedImage {
  const std::string& path;
  std::span<const uint8_t> bytes;
};

PageImage DecodePng(const EncodedImage& file, const ReadLimits& limits);   // libpng
PageImage DecodeJpeg(const EncodedImage& file, const ReadLimits& limits);  // libjpeg-turbo
PageImage DecodeWebp(const EncodedImage& file, const ReadLimits& limits);  // libwebp
PageImage DecodeBmp(const EncodedImage& file, const ReadLimits& limits);
PageImage DecodePnm(const EncodedImage& file, const ReadLimits& limits);
PageImage DecodeJp2(const EncodedImage& file, const ReadLimits& limits);  // OpenJPEG
PageImage DecodeGif(const EncodedImage& file, const ReadLimits& limits);  // giflib

ImageSize PngSize(const InputFile& file);
ImageSize JpegSize(const InputFile& file);
ImageSize WebpSize(const InputFile& file);
ImageSize BmpSize(const InputFile& file);
ImageSize PnmSize(const InputFile& file);
ImageSize Jp2Size(const InputFile& file);
ImageSize GifSize(const InputFile& file);

}  // namespace platen
