// PP-DocLayoutV3 as a layout model of the program.
#pragma once

#include <memory>
#include <string>

#include "model/families/layout_model.h"

namespace platen::pp_doclayout {

// Throws Error(kModel) naming file and field.
std::unique_ptr<LayoutArchitecture> ReadArchitecture(const std::string& snapshot_dir);

}  // namespace platen::pp_doclayout
