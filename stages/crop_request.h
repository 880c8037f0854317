// From a crop's kind to what the engine is asked for.
#pragma once

#include "model/engine/request.h"
#include "stages/layout/read_options.h"

namespace platen {

// Prompt and limits for a crop of a region of this kind. `options.task`, if there is one, is a key
// of ReadingConfig::prompts.
RequestOptions CropRequest(RegionKind kind, const ReadingConfig& reading,
                           const ReadOptions& options);

}  // namespace platen
