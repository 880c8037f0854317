#include "model/training/draft_graph.h"

#include "model/training/chain_graph.h"
#include "model/training/heads_graph.h"

namespace platen {

template <class T>
std::unique_ptr<DraftGraph<T>> MakeDraftGraph(Parameters<T>& parameters, ChainOn chain_on) {
  if (parameters.shape().chain) {
    return std::make_unique<ChainGraph<T>>(parameters, chain_on);
  }
  return std::make_unique<HeadsGraph<T>>(parameters);
}

template std::unique_ptr<DraftGraph<float>> MakeDraftGraph(Parameters<float>&, ChainOn);
template std::unique_ptr<DraftGraph<double>> MakeDraftGraph(Parameters<double>&, ChainOn);

}  // namespace platen
