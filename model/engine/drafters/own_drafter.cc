#include "model/engine/drafters/own_drafter.h"

#include "model/engine/drafters/head_drafter.h"
#include "model/engine/drafters/mtp_chain.h"

namespace platen {

std::unique_ptr<Drafter> MakeOwnDrafter(const Model& model, const EngineOptions& options,
                                        KvPool& pool) {
  const EngineInstruments& instruments = options.instruments;
  if (model.draft_heads() != nullptr) {
    return std::make_unique<HeadDrafter>(
        model, HeadDrafterOptions{options.draft_vocabulary, instruments.full_drafts,
                                  instruments.observer});
  }
  if (model.draft() == nullptr) return nullptr;
  return std::make_unique<MtpChain>(
      model, pool,
      MtpChainOptions{instruments.mtp_convention, options.draft_vocabulary, instruments.full_drafts,
                      instruments.observer, instruments.fault_point});
}

}  // namespace platen
