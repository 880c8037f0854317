// Token ids that end an answer or fill a row, as the config files give them.
#pragma once

#include <string>
#include <vector>

#include "model/support/token_id.h"

namespace platen {

class JsonObject;

struct SpecialTokens {
  std::vector<TokenId> stop;  // generation_config.json eos_token_id, else config.json's
  TokenId pad = -1;           // the first stop token if no file names one
};

// Stop and padding ids stand in generation_config.json and, often again, in `text`, the object of
// config.json that describes the decoder. Where both have them they must agree: which one wins
// differs between inference programs. Throws Error(kModel) naming file and field, also where
// neither says what stops, unless the family has a `fallback`.
SpecialTokens ReadSpecialTokens(const std::string& snapshot_dir, const JsonObject& text,
                                int vocab_size, const SpecialTokens* fallback = nullptr);

}  // namespace platen
