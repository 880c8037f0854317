// The one place that names the families; a new one is a line here.
#include "model/families/glm_ocr/architecture.h"
#include "model/families/minillm/architecture.h"
#include "model/families/pp_doclayout/architecture.h"
#include "model/families/registry.h"

namespace platen {

const FamilyRegistry& FamilyRegistry::BuiltIn() {
  static const FamilyRegistry families = [] {
    FamilyRegistry all;
    all.Add("glm_ocr", "GLM-OCR", glm_ocr::ReadArchitecture);
    all.Add("minillm", "MiniLLM", minillm::ReadMiniLlm);
    all.Add("glm_ocr/minillm", "MiniLLM behind GLM-OCR's images", minillm::ReadBehindGlmImages);
    all.Add("deepseek_v3", "DeepSeek-V3", minillm::ReadDeepSeekV3);
    all.Add("deepseek_v32", "DeepSeek-V3.2", minillm::ReadDeepSeekV32);
    all.AddLayout("pp_doclayout_v3", "PP-DocLayoutV3 (finds the regions of a page, reads nothing)",
                  pp_doclayout::ReadArchitecture);
    return all;
  }();
  return families;
}

}  // namespace platen
