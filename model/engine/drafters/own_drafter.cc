#include "model/engine/drafters/own_drafter.h"

#include "model/engine/drafters/head_drafter.h"
#include "model/engine/drafters/mtp_chain.h"
#include "model/engine/drafters/watched_drafter.h"

namespace platen {
namespace {

// nullptr: there is neither a layer nor heads.
std::unique_ptr<Drafter> Make(const Model& model, const DraftModel* layer, const DraftHeads* heads,
                              const EngineOptions& options, KvPool& pool) {
  const EngineInstruments& instruments = options.instruments;
  if (heads != nullptr) {
    return std::make_unique<HeadDrafter>(
        model, HeadDrafterOptions{heads, options.draft_vocabulary, instruments.full_drafts,
                                  instruments.observer});
  }
  if (layer == nullptr) return nullptr;
  return std::make_unique<MtpChain>(
      model, pool,
      MtpChainOptions{layer, instruments.mtp_convention, options.draft_vocabulary,
                      instruments.full_drafts, instruments.observer, instruments.fault_point});
}

}  // namespace

std::unique_ptr<Drafter> MakeOwnDrafter(const Model& model, const EngineOptions& options,
                                        KvPool& pool,
                                        std::function<void(const std::string&)> given_up) {
  std::unique_ptr<Drafter> drafter = Make(model, model.draft(), model.draft_heads(), options, pool);
  const ModelParts* own = model.own_drafts();
  if (own == nullptr || options.instruments.full_drafts) return drafter;
  return std::make_unique<WatchedDrafter>(
      std::move(drafter), Make(model, own->draft.get(), own->heads.get(), options, pool),
      DraftWatch(model.draft_head()->facts.own_acceptance), std::move(given_up));
}

}  // namespace platen
