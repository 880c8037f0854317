// The drafter for what a model drafts with, of its own or of a file.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/engine/drafters/drafter.h"
#include "model/engine/engine_options.h"
#include "model/families/model.h"
#include "model/ops/kv_cache.h"

namespace platen {

// Chains its draft layer, or asks its draft heads; nullptr: it has neither. Those of a file are
// watched if the file says how good the snapshot's own are, and `given_up` is told why the latter
// take over, once, from the decode stage. `model` and `pool` outlive the drafter.
std::unique_ptr<Drafter> MakeOwnDrafter(const Model& model, const EngineOptions& options,
                                        KvPool& pool,
                                        std::function<void(const std::string&)> given_up = {});

}  // namespace platen
