#include "model/families/registry.h"

#include "model/support/json_fields.h"

namespace platen {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr size_t kMaxTypeBytes = 256;

}  // namespace

std::unique_ptr<Architecture> FamilyRegistry::Read(const std::string& snapshot_dir) const {
  const std::string path = SnapshotFile(snapshot_dir, "config.json");
  const nlohmann::json json = ReadJsonFile(path, kMaxConfigBytes);
  const JsonObject root(json, path);
  const std::string type = root.String("model_type", kMaxTypeBytes);
  const auto family = families_.find(type);
  if (family != families_.end()) return family->second(snapshot_dir);
  std::string known;
  for (const auto& [name, unused] : families_) known += (known.empty() ? "" : ", ") + name;
  root.Fail("model_type", "is " + JsonExcerpt(type) + "; known: " + known);
}

}  // namespace platen
