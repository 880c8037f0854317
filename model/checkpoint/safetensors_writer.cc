#include "model/checkpoint/safetensors_writer.h"

#include <nlohmann/json.hpp>

#include "model/support/atomic_file.h"

namespace platen {

void WriteSafetensors(const Folder& folder, const std::string& name,
                      std::span<const StoredTensor> tensors,
                      const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const StoredTensor& tensor : tensors) {
    const uint64_t end = offset + tensor.bytes.size();
    header[tensor.name] = {{"dtype", DTypeName(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors begin at a multiple of 8
  const uint64_t length = text.size();
  AtomicFile file(folder, "." + name + ".tmp", folder, name);
  file.Append({reinterpret_cast<const char*>(&length), sizeof(length)});
  file.Append(text);
  for (const StoredTensor& tensor : tensors) {
    file.Append({reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
  }
  file.Commit();
}

}  // namespace platen
