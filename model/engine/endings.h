// What ends an answer besides its stop tokens and its limit: a stop text, and endless repetition.
#pragma once

#include "model/engine/sequence.h"

namespace platen {

class Tokenizer;

// After a token was decided and the sequence goes on: ends it if it must end here; true then. Text
// that repeats itself is cut to its first unit.
bool EndIfItMust(const Tokenizer& tokenizer, Sequence& sequence);

}  // namespace platen
