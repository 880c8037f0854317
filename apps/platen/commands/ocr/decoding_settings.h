// Settings of `platen ocr` and `platen run` that say how text is decoded.
#pragma once

#include "apps/platen/cli/settings.h"
#include "model/engine/engine_options.h"
#include "model/families/model.h"

namespace platen {

// Throws what ReadDraftVocabulary throws.
std::vector<TokenId> DraftVocabularyFrom(const Settings& settings, const Model& model);

// Throw Error(kUsage) for what does not go together.
DrafterChoice DraftersFrom(const Settings& settings);
SamplingOptions SamplingFrom(const Settings& settings);
EngineOptions EngineOptionsFrom(const Settings& settings, const Model& model,
                                int64_t kv_cache_bytes);

}  // namespace platen
