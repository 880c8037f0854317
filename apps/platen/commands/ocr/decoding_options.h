// Options of platen ocr that concern the model and its decoding.
#pragma once

#include "apps/platen/cli/option_table.h"

namespace platen {

void AddModel(OptionTable& table);

}  // namespace platen
