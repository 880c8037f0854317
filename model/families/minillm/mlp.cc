#include "model/families/minillm/mlp.h"

#include <algorithm>
#include <span>

namespace platen::minillm {

void Experts::Route(const ExpertsWeights& w, ConstMatView x, int layer, const Observer& observer,
                    MlpWorkspace& ws, LinearWorkspace& linear) const {
  const auto experts = static_cast<size_t>(router_.experts);
  MatView logits = ws.router.Shaped(x.rows, router_.experts);
  w.router.Apply(kernels_, x, logits, linear);
  if (observer) observer("router" + std::to_string(layer) + ".logits", logits);
  Router router(router_);
  ws.experts.clear();
  ws.weights.clear();
  for (int64_t r = 0; r < x.rows; ++r) {
    router.Choose({logits.Row(r), experts}, w.correction_bias, ws.chosen);
    for (const ExpertChoice& choice : ws.chosen) {
      ws.experts.push_back(choice.expert);
      ws.weights.push_back(choice.weight);
    }
  }
}

// A counting sort: places of expert e are first_place[e] .. first_place[e + 1] - 1, rows ascending.
void Experts::SortByExpert(MlpWorkspace& ws) const {
  const auto per_token = static_cast<size_t>(router_.per_token);
  ws.first_place.assign(static_cast<size_t>(router_.experts) + 1, 0);
  for (const int e : ws.experts) ++ws.first_place[static_cast<size_t>(e) + 1];
  for (size_t e = 1; e < ws.first_place.size(); ++e) ws.first_place[e] += ws.first_place[e - 1];
  ws.places.resize(ws.experts.size());
  std::vector<int64_t> next = ws.first_place;
  for (size_t i = 0; i < ws.experts.size(); ++i) {
    const auto place = static_cast<size_t>(next[static_cast<size_t>(ws.experts[i])]++);
    ws.places[place] = {static_cast<int64_t>(i / per_token), ws.weights[i]};
  }
}

void Experts::Apply(const ExpertsWeights& w, ConstMatView x, MatView y, int layer,
                    const Observer& observer, MlpWorkspace& ws, LinearWorkspace& linear) const {
  Route(w, x, layer, observer, ws, linear);
  SortByExpert(ws);
  MatView gathered = ws.gathered.Shaped(x.rows, x.cols);
  MatView results = ws.results.Shaped(x.rows, x.cols);
  for (int64_t r = 0; r < y.rows; ++r) std::fill_n(y.Row(r), y.cols, 0.0F);
  for (size_t e = 0; e < w.experts.size(); ++e) {
    const int64_t first = ws.first_place[e], count = ws.first_place[e + 1] - first;
    if (count == 0) continue;
    const std::span places(ws.places.data() + first, static_cast<size_t>(count));
    for (int64_t p = 0; p < count; ++p) {
      std::copy_n(x.Row(places[static_cast<size_t>(p)].row), x.cols, gathered.Row(p));
    }
    ApplyMlp(kernels_, activation_, w.experts[e], gathered.Rows(0, count), results.Rows(0, count),
             ws, linear);
    for (int64_t p = 0; p < count; ++p) {
      const MlpWorkspace::Place& place = places[static_cast<size_t>(p)];
      const float* result = results.Row(p);
      float* sum = y.Row(place.row);
      for (int64_t i = 0; i < y.cols; ++i) sum[i] += place.weight * result[i];
    }
  }
  if (!w.shared) return;
  MatView shared = ws.gathered.Shaped(x.rows, x.cols);
  ApplyMlp(kernels_, activation_, *w.shared, x, shared, ws, linear);
  if (observer) observer("shared" + std::to_string(layer), shared);
  for (int64_t r = 0; r < y.rows; ++r)
    kernels_.add(shared.Row(r), static_cast<size_t>(y.cols), y.Row(r));
}

}  // namespace platen::minillm
