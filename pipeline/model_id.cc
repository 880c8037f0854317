#include "pipeline/model_id.h"

#include <string_view>

#include "model/support/hash.h"
#include "model/support/json_fields.h"
#include "model/support/mapped_file.h"

namespace platen {

namespace {

void AddFile(const std::string& dir, const char* name, Hasher& hasher) {
  const std::string path = SnapshotFile(dir, name);
  hasher.Add(name);
  if (!FileExists(path)) return;
  const MappedFile file(path);
  hasher.Add(
      std::string_view(reinterpret_cast<const char*>(file.data().data()), file.data().size()));
}

}  // namespace

std::string ModelId(const Model& model) {
  Hasher hasher;
  for (const char* name : {"config.json", "generation_config.json", "preprocessor_config.json",
                           "platen.json", "tokenizer.json"}) {
    AddFile(model.snapshot().dir, name, hasher);
  }
  hasher.Add(model.ContentHash());
  return hasher.Hex();
}

std::string LayoutModelId(const LayoutSnapshot& snapshot) {
  Hasher hasher;
  for (const char* name : {"config.json", "preprocessor_config.json"}) {
    AddFile(snapshot.dir, name, hasher);
  }
  hasher.Add(WeightsHash(snapshot.checkpoint));
  return hasher.Hex();
}

}  // namespace platen
