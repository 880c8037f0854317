// The words of a command line, told apart by an option table.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/platen/cli/option_table.h"

namespace platen {

struct OptionWords {
  // By the name that was written, without dashes; a flag's value is "true", the values of a
  // kTextList are separated by newlines. Not checked.
  std::map<std::string, std::string> values;
  std::vector<std::string> positional;
};

// Throws Error(kUsage) for an option that is unknown (naming the nearest), given more than once,
// without a value or with one it does not take.
OptionWords ParseWords(const OptionTable& table, const std::vector<std::string>& words);

// What to say of an option that many a user of other programs or of earlier versions tries:
// "--lang". Empty for all others.
std::string AnswerTo(const std::string& option);

}  // namespace platen
