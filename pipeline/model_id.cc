#include "pipeline/model_id.h"

#include <string_view>

#include "model/support/hash.h"
#include "model/support/json_fields.h"
#include "model/support/mapped_file.h"

namespace platen {

std::string ModelId(const Model& model) {
  const auto text = [](std::span<const std::byte> bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  Hasher hasher;
  for (const char* name : {"config.json", "generation_config.json", "preprocessor_config.json",
                           "platen.json", "tokenizer.json"}) {
    const std::string path = SnapshotFile(model.snapshot().dir, name);
    hasher.Add(name);
    if (FileExists(path)) hasher.Add(text(MappedFile(path).data()));
  }
  hasher.Add(model.ContentHash());
  return hasher.Hex();
}

}  // namespace platen
