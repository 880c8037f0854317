// One safetensors file: its header, parsed and checked. Private to this folder's sources.
//
// Layout: 8 bytes little endian header length, a JSON object (padded with spaces), the tensors'
// bytes. Source: the safetensors format description; the checks are those of its reference reader,
// plus "only float dtypes, and single I64" and "no unknown keys".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/support/mapped_file.h"

namespace platen {

// Views of all tensors, in the order of their bytes; they live as long as the mapping. The tensors
// cover the data area without hole or overlap.
// Throws Error(kModel) naming file, tensor and offset.
// `metadata` gets the header's "__metadata__", all texts.
std::vector<StoredTensor> ReadSafetensors(const MappedFile& file,
                                          std::map<std::string, std::string>& metadata);

}  // namespace platen
