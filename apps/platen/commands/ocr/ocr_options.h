// The options of `platen ocr`.
#pragma once

#include "apps/platen/cli/option_table.h"

namespace platen {

const OptionTable& OcrOptions();

}  // namespace platen
