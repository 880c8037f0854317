// What is known of the words that can stand at a place of a command line; for shells with the
// syntax of sh, bash and zsh, and what every shell needs.
#pragma once

#include <string>
#include <vector>

#include "apps/platen/cli/option_table.h"
#include "apps/platen/commands/commands.h"

namespace platen {

// What an option's value is.
enum class ValueKind { kNone, kText, kFile, kFolder, kChoice, kChoiceList };
ValueKind ValueKindOf(const OptionSpec& option);

// The words that an argument is one of; empty: any.
std::vector<std::string> ArgumentChoices(const Argument& argument,
                                         const std::vector<CommandGroup>& groups);

// The first sentence of an option's help.
std::string FirstSentence(const std::string& text);

// In single quotes: one word, whatever is in it.
std::string ShQuoted(const std::string& text);

// The function _platen_known PLACE. It sets kind (options, choice, list, files, folder, text) and
// the array known; with texts also about, what each option or command is. It returns 1 if no word
// can stand there. PLACE is
//   ""               the first word: commands
//   "ocr -"          options of a command
//   "ocr --format"   the value of an option
//   "ocr"            its words that belong to no option
enum class Texts { kNo, kYes };
std::string KnownWords(const std::vector<CommandGroup>& groups, Texts texts);

}  // namespace platen
