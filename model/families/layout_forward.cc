#include "model/families/layout_forward.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "model/support/error.h"
#include "model/support/npy_writer.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const std::vector<Detection>& detections) {
  Json list = Json::array();
  for (const Detection& d : detections) {
    list.push_back({{"order", d.order},
                    {"query", d.query},
                    {"label", d.label},
                    {"kind", RegionKindName(d.kind)},
                    {"score", d.score},
                    {"box", {d.x0, d.y0, d.x1, d.y1}}});
  }
  return list;
}

void WriteResult(const std::string& path, const Image& page, BoxRules rules,
                 const LayoutForwardResult& result) {
  const Json json = {{"page_size", {page.width, page.height}},
                     {"detections", ToJson(result.found)},
                     {"box_rules", BoxRulesName(rules)},
                     {"regions", ToJson(result.kept)}};
  std::ofstream out(path);
  out << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  out.close();
  if (!out) throw Error(ErrorKind::kEnvironment, {.file = path, .field = {}}, "cannot write");
}

}  // namespace

LayoutForwardResult RunLayoutForward(const LayoutModel& model, const Image& page, BoxRules rules,
                                     const std::string& dump_dir) {
  ArrayObserver observer;
  if (!dump_dir.empty()) {
    observer = [&](const DumpedArray& array) {
      const std::string path = dump_dir + "/" + array.name + ".npy";
      std::visit([&](const auto& values) { WriteNpy(path, values, array.shape); }, array.values);
    };
  }
  LayoutForwardResult result;
  result.found = model.Detect(page, observer);
  result.kept = model.Apply(rules, result.found, page.width, page.height);
  if (!dump_dir.empty()) WriteResult(dump_dir + "/result.json", page, rules, result);
  return result;
}

}  // namespace platen
