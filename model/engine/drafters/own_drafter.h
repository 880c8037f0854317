// The drafter for what a model has of its own to draft with.
#pragma once

#include <memory>

#include "model/engine/drafters/drafter.h"
#include "model/engine/engine_options.h"
#include "model/families/model.h"
#include "model/ops/kv_cache.h"

namespace platen {

// Chains its draft layer, or asks its draft heads; nullptr: it has neither. `model` and `pool`
// outlive the drafter.
std::unique_ptr<Drafter> MakeOwnDrafter(const Model& model, const EngineOptions& options,
                                        KvPool& pool);

}  // namespace platen
