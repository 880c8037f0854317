#include "pipeline/model_id.h"

#include <filesystem>
#include <string_view>

#include "model/support/mapped_file.h"
#include "pipeline/hash.h"

namespace platen {

std::string ModelId(const Snapshot& snapshot) {
  const auto text = [](std::span<const std::byte> bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  Hasher hasher;
  for (const char* name : {"config.json", "generation_config.json", "preprocessor_config.json",
                           "platen.json", "tokenizer.json"}) {
    const std::string path = snapshot.dir + "/" + name;
    hasher.Add(name);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) hasher.Add(text(MappedFile(path).data()));
  }
  for (const auto& [name, tensor] : snapshot.checkpoint.tensors()) {
    hasher.Add(name);
    hasher.Add(DTypeName(tensor.dtype));
    hasher.Add(ShapeText(tensor.shape));
    hasher.Add(text(tensor.bytes));
  }
  return hasher.Hex();
}

}  // namespace platen
