// Options of platen ocr that say what is read and what is written.
#pragma once

#include "apps/platen/cli/option_table.h"

namespace platen {

void AddInputAndOutput(OptionTable& table);
void AddReading(OptionTable& table);

}  // namespace platen
