#include "pipeline/layout_choice.h"

#include <filesystem>
#include <utility>

#include "model/families/layout_snapshot.h"
#include "model/hub/hub_cache.h"
#include "pipeline/model_id.h"
#include "stages/layout/region_detector.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPublishedName = "PP-DocLayoutV3_safetensors";

}  // namespace

std::string LayoutModelBeside(const std::string& model_dir) {
  std::error_code ignored;
  fs::path folder = fs::absolute(model_dir, ignored).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();  // "model/"
  const fs::path beside = folder.parent_path() / kPublishedName;
  return fs::exists(beside / "config.json", ignored) ? beside.string() : "";
}

LayoutChoice ChooseLayout(const std::string& given, const std::string& model_dir, BoxRules rules,
                          const KernelTable& kernels) {
  LayoutChoice choice;
  choice.detector = MakeClassicalDetector();
  if (given == kClassicalLayout) return choice;
  choice.dir = given.empty() ? LayoutModelBeside(model_dir) : ResolveModelFolder(given);
  if (choice.dir.empty()) return choice;
  const LayoutSnapshot snapshot = LoadLayoutSnapshot(choice.dir);
  choice.id = LayoutModelId(snapshot);
  choice.warning = snapshot.warning;
  choice.detector = MakeMergingDetector(
      std::move(choice.detector),
      MakeModelDetector(snapshot.architecture->Load(snapshot.checkpoint, kernels), rules));
  return choice;
}

}  // namespace platen
