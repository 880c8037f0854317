// The options of `platen ocr`.
#pragma once

#include "apps/platen/cli/option_table.h"
#include "apps/platen/cli/settings.h"
#include "model/families/reading_config.h"
#include "pipeline/run.h"
#include "stages/readers/document_reader.h"

namespace platen {

const OptionTable& OcrOptions();

ReadLimits ReadLimitsFrom(const Settings& settings);

// Granularity of `--granularity`; auto: the model's. Throws Error(kUsage) for one that the model
// states it was not trained for, unless `--allow-untrained`.
ReadingConfig::Granularity GranularityFrom(const Settings& settings, const ReadingConfig& reading);

}  // namespace platen
