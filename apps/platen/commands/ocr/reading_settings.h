// How pages are read, as the options of platen ocr say it; also of platen compare.
#pragma once

#include "apps/platen/cli/settings.h"
#include "model/families/reading_config.h"
#include "stages/readers/document_reader.h"

namespace platen {

ReadLimits ReadLimitsFrom(const Settings& settings);

// Granularity of `--granularity`; auto: the model's. Throws Error(kUsage) for one that the model
// states it was not trained for, unless `--allow-untrained`.
ReadingConfig::Granularity GranularityFrom(const Settings& settings, const ReadingConfig& reading);

}  // namespace platen
