// Documents that are not files: bytes of a file that somebody holds in memory, and decoded images.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "model/support/image.h"
#include "stages/readers/document_reader.h"

namespace platen {

// The bytes of an input file of any format that is read. They are copied, into a file without a
// name in memory, so that every reader and the programs that PDFs are rendered by take them as they
// take files. Throws as DocumentReader::Open does, and Error(kEnvironment) if there is no memory.
std::unique_ptr<DocumentReader> OpenBytes(std::span<const uint8_t> bytes, const ReadLimits& limits);

// One page, decoded and upright. `dpi`: 0 if it is not known. Throws Error(kInput) if the image is
// empty, inconsistent or larger than the limits allow.
std::unique_ptr<DocumentReader> OpenImage(Image image, double dpi, const ReadLimits& limits);

}  // namespace platen
