// Golden cases of PP-DocLayoutV3 (tests/golden/pp_doclayout).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/families/layout_model.h"
#include "model/families/layout_snapshot.h"
#include "stages/readers/document_reader.h"
#include "tests/support/golden.h"

namespace platen::testing {

inline const std::string kLayoutGoldens = "tests/golden/pp_doclayout/";

inline const std::map<std::string, std::vector<std::string>>& LayoutPages() {
  static const std::map<std::string, std::vector<std::string>> pages = {
      {"tiny-a", {"lucasta", "histoire", "colour", "stamp", "eurotext"}},
      {"tiny-b", {"lucasta", "trenches", "colour", "stamp"}},
      {"tiny-c", {"lucasta", "eurotext", "colour", "histoire"}}};
  return pages;
}

inline Image LayoutPage(const std::string& snapshot, const std::string& page) {
  const std::string path = SourcePath(kLayoutGoldens + "pages/" + snapshot + "-" + page + ".png");
  return DocumentReader::Open(path, {})->ReadPage(0).image;
}

inline std::unique_ptr<LayoutModel> LoadLayoutModel(const std::string& dir,
                                                    const KernelTable& kernels = BestKernels()) {
  const LayoutSnapshot snapshot = LoadLayoutSnapshot(dir);
  return snapshot.architecture->Load(snapshot.checkpoint, kernels);
}

inline std::unique_ptr<LayoutModel> GoldenLayoutModel(const std::string& snapshot,
                                                      const KernelTable& kernels = BestKernels()) {
  return LoadLayoutModel(SourcePath(kLayoutGoldens + "snapshots/" + snapshot), kernels);
}

// Everything a model's observer is told, as arrays.
struct LayoutRecorder {
  std::map<std::string, Npy> arrays;
  ArrayObserver observer() {
    return [this](const DumpedArray& array) {
      Npy& npy = arrays[array.name];
      npy.shape = array.shape;
      if (const auto* f = std::get_if<std::span<const float>>(&array.values)) {
        npy.f32.assign(f->begin(), f->end());
      } else if (const auto* i = std::get_if<std::span<const int64_t>>(&array.values)) {
        npy.i64.assign(i->begin(), i->end());
      } else {
        const auto& bytes = std::get<std::span<const uint8_t>>(array.values);
        npy.u8.assign(bytes.begin(), bytes.end());
      }
    };
  }
};

}  // namespace platen::testing
