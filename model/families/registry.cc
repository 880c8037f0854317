#include "model/families/registry.h"

#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr size_t kMaxTypeBytes = 256;

[[noreturn]] void FailType(const std::string& path, const std::string& reason) {
  throw Error(ErrorKind::kModel, {.file = path, .field = "model_type"}, reason);
}

// The model_type of the root and, behind a slash, that of its decoder, if it has one.
struct ModelTypes {
  std::string root, with_decoder;
};

ModelTypes TypesOf(const std::string& path) {
  const nlohmann::json json = ReadJsonFile(path, kMaxConfigBytes);
  const JsonObject root(json, path);
  ModelTypes types;
  types.root = root.String("model_type", kMaxTypeBytes);
  if (root.Has("text_config") && root.Required("text_config").is_object()) {
    const JsonObject text = root.Object("text_config");
    if (text.Has("model_type")) {
      types.with_decoder = types.root + "/" + text.String("model_type", kMaxTypeBytes);
    }
  }
  return types;
}

std::string ModelType(const std::string& path) { return TypesOf(path).root; }

// Empty: that cannot be told.
ModelTypes TypesOrNone(const std::string& snapshot_dir) {
  try {
    return TypesOf(SnapshotFile(snapshot_dir, "config.json"));
  } catch (const Error&) {
    return {};
  }
}

template <class Family>
std::string Known(const std::map<std::string, Family>& families) {
  std::string known;
  for (const auto& [name, unused] : families) {
    if (name.find('/') != std::string::npos) continue;  // no model_type by itself
    known += (known.empty() ? "" : ", ") + name;
  }
  return known;
}

}  // namespace

std::unique_ptr<Architecture> FamilyRegistry::Read(const std::string& snapshot_dir) const {
  const std::string path = SnapshotFile(snapshot_dir, "config.json");
  const auto& [type, with_decoder] = TypesOf(path);
  for (const std::string& name : {with_decoder, type}) {
    const auto family = families_.find(name);
    if (family != families_.end()) return family->second(snapshot_dir);
  }
  if (layout_families_.contains(type)) {
    FailType(path, "is " + JsonExcerpt(type) +
                       ", a model that finds regions and reads nothing; give it with "
                       "--layout-model, beside a model that reads");
  }
  FailType(path, "is " + JsonExcerpt(type) + "; known: " + Known(families_));
}

std::unique_ptr<LayoutArchitecture> FamilyRegistry::ReadLayout(
    const std::string& snapshot_dir) const {
  const std::string path = SnapshotFile(snapshot_dir, "config.json");
  const std::string type = ModelType(path);
  const auto family = layout_families_.find(type);
  if (family != layout_families_.end()) return family->second(snapshot_dir);
  FailType(path, "is " + JsonExcerpt(type) +
                     ", no model that finds regions; known: " + Known(layout_families_));
}

bool FamilyRegistry::IsLayoutModel(const std::string& snapshot_dir) const {
  return layout_families_.contains(TypesOrNone(snapshot_dir).root);
}

std::string FamilyRegistry::TitleOf(const std::string& snapshot_dir) const {
  const auto& [type, with_decoder] = TypesOrNone(snapshot_dir);
  for (const std::string& name : {with_decoder, type}) {
    const auto title = titles_.find(name);
    if (title != titles_.end()) return title->second;
  }
  return "";
}

}  // namespace platen
