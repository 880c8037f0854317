#include "model/families/pp_doclayout/box_rules.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>

namespace platen::pp_doclayout {
namespace {

// Of GLM-OCR's SDK.
constexpr double kSameLabelOverlap = 0.6;
constexpr double kOtherLabelOverlap = 0.98;
constexpr double kInside = 0.8;
constexpr double kLandscapeImage = 0.82;  // of the page's area
constexpr double kPortraitImage = 0.93;

using Boxes = std::vector<Detection>;

bool IsKeptInside(const Detection& box) {
  return box.label == "image" || box.label == "seal" || box.label == "chart";
}
bool IsReference(const Detection& box) { return box.label == "reference"; }

// Sides count their border pixels where `border` is 1.
double Area(const Detection& b, double border) {
  return (b.x1 - b.x0 + border) * (b.y1 - b.y0 + border);
}

double Intersection(const Detection& a, const Detection& b, double border) {
  const double w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0) + border;
  const double h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0) + border;
  return std::max(0.0, w) * std::max(0.0, h);
}

double IntersectionOverUnion(const Detection& a, const Detection& b) {
  const double both = Intersection(a, b, 1);
  return both / (Area(a, 1) + Area(b, 1) - both);
}

bool LiesIn(const Detection& inner, const Detection& outer) {
  const double area = Area(inner, 0);
  return area > 0 && Intersection(inner, outer, 0) / area >= kInside;
}

// Best score first, of equals the later one; what overlaps a box that stays goes.
Boxes WithoutOverlaps(const Boxes& found) {
  std::vector<size_t> todo(found.size());
  std::iota(todo.begin(), todo.end(), size_t{0});
  std::sort(todo.begin(), todo.end(), [&](size_t a, size_t b) {
    return found[a].score != found[b].score ? found[a].score > found[b].score : a > b;
  });
  Boxes kept;
  for (const size_t i : todo) {
    const bool free = std::all_of(kept.begin(), kept.end(), [&](const Detection& best) {
      const double limit = best.label == found[i].label ? kSameLabelOverlap : kOtherLabelOverlap;
      return IntersectionOverUnion(best, found[i]) < limit;
    });
    if (free) kept.push_back(found[i]);
  }
  return kept;
}

Detection Clamped(Detection box, int width, int height) {
  for (double* x : {&box.x0, &box.x1}) *x = std::clamp(*x, 0.0, static_cast<double>(width));
  for (double* y : {&box.y0, &box.y1}) *y = std::clamp(*y, 0.0, static_cast<double>(height));
  return box;
}

// An image as large as the page is the page, unless there is nothing else.
Boxes WithoutPageImages(Boxes found, int width, int height) {
  const double limit =
      (width > height ? kLandscapeImage : kPortraitImage) * (static_cast<double>(width) * height);
  const auto is_page = [&](const Detection& box) {
    return box.label == "image" && Area(Clamped(box, width, height), 0) > limit;
  };
  if (found.size() > 1 && !std::all_of(found.begin(), found.end(), is_page)) {
    std::erase_if(found, is_page);
  }
  return found;
}

// All judged on the full list.
Boxes SdkWithoutContained(const Boxes& found) {
  const size_t n = found.size();
  std::vector<bool> goes(n), holds_reference(n), lies_in_any(n);
  for (size_t i = 0; i < n; ++i) {
    if (IsKeptInside(found[i])) continue;
    for (size_t j = 0; j < n; ++j) {
      if (i == j || !LiesIn(found[i], found[j])) continue;
      lies_in_any[i] = true;
      if (!IsReference(found[j])) goes[i] = true;
      if (IsReference(found[i])) holds_reference[j] = true;
    }
  }
  Boxes kept;
  for (size_t i = 0; i < n; ++i) {
    const bool frame = holds_reference[i] && !(IsReference(found[i]) && lies_in_any[i]);
    if (!goes[i] && !frame) kept.push_back(found[i]);
  }
  return kept;
}

void SortByOrder(Boxes& boxes) {
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const Detection& a, const Detection& b) { return a.order < b.order; });
}

// Keeps, walking in `order`, what `goes(box, kept before it)` does not turn away.
template <class Goes>
Boxes Filtered(Boxes boxes, const std::function<bool(const Detection&, const Detection&)>& before,
               const Goes& goes) {
  std::stable_sort(boxes.begin(), boxes.end(), before);
  Boxes kept;
  for (const Detection& box : boxes) {
    if (!goes(box, kept)) kept.push_back(box);
  }
  return kept;
}

bool AnyOf(const Boxes& boxes, const std::function<bool(const Detection&)>& test) {
  return std::any_of(boxes.begin(), boxes.end(), test);
}

// Of two boxes that lie in each other the better one.
Boxes WithoutDoubles(Boxes boxes) {
  return Filtered(
      std::move(boxes), [](const auto& a, const auto& b) { return a.score > b.score; },
      [](const Detection& box, const Boxes& kept) {
        return !IsKeptInside(box) && AnyOf(kept, [&](const Detection& better) {
          return !IsKeptInside(better) && LiesIn(box, better) && LiesIn(better, box);
        });
      });
}

// A list of references is only a frame where its entries were found; a text around a list goes.
Boxes WithoutFrames(Boxes boxes) {
  const Boxes all = boxes;
  std::erase_if(boxes, [&](const Detection& frame) {
    return IsReference(frame) && AnyOf(all, [&](const Detection& entry) {
             return !IsKeptInside(entry) && !IsReference(entry) && LiesIn(entry, frame);
           });
  });
  const Boxes lists = boxes;
  std::erase_if(boxes, [&](const Detection& text) {
    return text.kind == RegionKind::kText && AnyOf(lists, [&](const Detection& list) {
             return IsReference(list) && LiesIn(list, text);
           });
  });
  return boxes;
}

// What lies in a larger box that stays.
Boxes WithoutContained(Boxes boxes) {
  return Filtered(
      std::move(boxes), [](const auto& a, const auto& b) { return Area(a, 0) > Area(b, 0); },
      [](const Detection& box, const Boxes& kept) {
        return !IsKeptInside(box) &&
               AnyOf(kept, [&](const Detection& larger) { return LiesIn(box, larger); });
      });
}

}  // namespace

Boxes ApplySdkRules(Boxes found, int page_width, int page_height) {
  found = SdkWithoutContained(WithoutPageImages(WithoutOverlaps(found), page_width, page_height));
  SortByOrder(found);
  Boxes kept;
  for (const Detection& each : found) {
    Detection box = Clamped(each, page_width, page_height);
    if (!(box.x0 < box.x1 && box.y0 < box.y1)) continue;
    for (double* value : {&box.x0, &box.y0, &box.x1, &box.y1}) *value = std::trunc(*value);
    kept.push_back(box);
  }
  return kept;
}

Boxes ApplyRules(Boxes found, int page_width, int page_height) {
  for (Detection& box : found) box = Clamped(box, page_width, page_height);
  std::erase_if(found,
                [](const Detection& box) { return box.x1 - box.x0 < 1 || box.y1 - box.y0 < 1; });
  found = WithoutPageImages(WithoutOverlaps(found), page_width, page_height);
  found = WithoutContained(WithoutFrames(WithoutDoubles(std::move(found))));
  SortByOrder(found);
  return found;
}

}  // namespace platen::pp_doclayout
