// Which detector lays pages out: the built-in one, or a layout model beside it.
#pragma once

#include <memory>
#include <string>

#include "model/families/layout_model.h"
#include "model/kernels/kernels.h"
#include "stages/layout/layout.h"

namespace platen {

// The name that asks for the built-in detector even where a layout model lies beside the model.
inline constexpr const char* kClassicalLayout = "classical";

// The folder of the layout model that was published beside GLM-OCR, PP-DocLayoutV3_safetensors, in
// the folder that holds `model_dir`; empty: there is none.
std::string LayoutModelBeside(const std::string& model_dir);

struct LayoutChoice {
  std::unique_ptr<LayoutDetector> detector;
  std::string dir;      // of the layout model; empty: the built-in detector alone
  std::string id;       // hash of all of the layout model that results depend on; empty: none
  std::string warning;  // an oddity that does not hinder, for the log; empty: none
};

// `given`: a folder, owner/name of a downloaded model, kClassicalLayout, or empty for
// LayoutModelBeside(model_dir), else the built-in detector. `kernels` outlives the detector. Throws
// Error(kModel) for a folder that holds no usable layout model.
LayoutChoice ChooseLayout(const std::string& given, const std::string& model_dir, BoxRules rules,
                          const KernelTable& kernels);

}  // namespace platen
