// What a command takes and says of itself, declared once: its words are parsed from it, and help,
// man pages and completion in shells are made from it.
#pragma once

#include <string>
#include <vector>

#include "apps/platen/cli/option_table.h"

namespace platen {

// The words that belong to no option.
struct Argument {
  enum class Kind { kNone, kFiles, kFolder, kCommand };  // kFiles: folders too
  Kind kind = Kind::kNone;
  std::vector<std::string> choices = {};  // if it is one of few
};

// Something and what it means: a variable, a file, an exit code.
struct Meaning {
  std::string name;
  std::string text;
};

// Texts are paragraphs with empty lines between them, of any width. Lines that begin with a space
// are shown as they are: commands to try, and the like.
struct CommandSpec {
  std::vector<std::string> synopsis;  // "platen clean OUT [options]", one for each way to call it
  std::string description;
  OptionTable options = {};
  std::string after = "";                // what stands behind the options
  std::vector<Meaning> variables = {};   // of the environment, beside those of the options
  std::vector<Meaning> exit_codes = {};  // where they differ from CommonExitCodes
  Argument argument = {};
};

}  // namespace platen
