// Models that find the regions of a page: what the program needs to know of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/families/described_model.h"
#include "model/families/region_kind.h"
#include "model/kernels/kernels.h"
#include "model/support/image.h"

namespace platen {

// A box that a layout model has drawn. Corners in page pixels; they may lie outside of the page.
struct Detection {
  RegionKind kind = RegionKind::kText;
  std::string label;  // as the model calls it
  double score = 0;   // 0..1
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  int order = 0;  // place in reading order; not without gaps
  int query = 0;  // which of the model's guesses it is
};

// What is made of the boxes: our rules, or those of the SDK that a model comes with, to the letter.
enum class BoxRules { kPlaten, kSdk };
const char* BoxRulesName(BoxRules rules);  // "platen", "sdk"

// An intermediate result, C order; valid during the call only.
struct DumpedArray {
  std::string name;
  std::vector<int64_t> shape;
  std::variant<std::span<const float>, std::span<const int64_t>, std::span<const uint8_t>> values;
};
// An empty function costs nothing.
using ArrayObserver = std::function<void(const DumpedArray&)>;

// Immutable once loaded. Thread-safe; one page at a time is in memory, other calls wait.
class LayoutModel {
 public:
  virtual ~LayoutModel() = default;

  // The boxes on an upright page that are likely enough, in reading order, before any rule.
  // Throws Error(kInput) for an empty page or results that are not finite.
  virtual std::vector<Detection> Detect(const Image& page, const ArrayObserver& observer) const = 0;

  // The boxes that the rules leave, within the page, in reading order. Pure.
  virtual std::vector<Detection> Apply(BoxRules rules, std::vector<Detection> found, int page_width,
                                       int page_height) const = 0;
};

// The architecture of a layout model's snapshot.
class LayoutArchitecture : public DescribedModel {
 public:
  // Loads the weights of `checkpoint`, which has been checked against Modules(); it may go away
  // afterwards. `kernels` outlives the model. Throws Error(kModel) for weights that are no numbers.
  virtual std::unique_ptr<LayoutModel> Load(const Checkpoint& checkpoint,
                                            const KernelTable& kernels) const = 0;
};

}  // namespace platen
