#include "model/families/layout_model.h"

namespace platen {

const char* BoxRulesName(BoxRules rules) { return rules == BoxRules::kSdk ? "sdk" : "platen"; }

}  // namespace platen
