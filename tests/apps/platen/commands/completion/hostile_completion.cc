// hostile_completion SHELL: the completion of commands whose names and texts are what a shell would
// run, expand or take apart if they were not quoted.
#include <cstdio>
#include <map>

#include "apps/platen/commands/completion/completion.h"

namespace {

using namespace platen;

const std::vector<std::string> kHostile = {"$(touch PWNED)",
                                           "`touch PWNED`",
                                           "x;touch PWNED",
                                           "(touch PWNED)",
                                           "a'b",
                                           "a\"b",
                                           "two words",
                                           "*",
                                           "$HOME",
                                           "back\\slash",
                                           "~",
                                           "a:b",
                                           "{a,b}",
                                           "#x",
                                           "<(touch PWNED)",
                                           "!!",
                                           "'$(touch PWNED)'"};

const CommandSpec& HostileCommand() {
  static const CommandSpec spec = [] {
    CommandSpec made = {.synopsis = {}, .description = "", .argument = {.choices = kHostile}};
    made.options = {{.name = "choice",
                     .type = OptionType::kChoice,
                     .help = "'$(touch PWNED)' `touch PWNED`",
                     .choices = kHostile},
                    {.name = "list", .type = OptionType::kChoiceList, .choices = kHostile}};
    return made;
  }();
  return spec;
}

int Nothing(const Words&) { return 0; }

}  // namespace

int main(int argc, char** argv) {
  const std::vector<CommandGroup> groups = {
      {"Group", {{"evil", "it's $(touch PWNED) `touch PWNED`", HostileCommand, Nothing}}}};
  const std::map<std::string, std::string (*)(const std::vector<CommandGroup>&)> shells = {
      {"bash", BashCompletion}, {"zsh", ZshCompletion}, {"fish", FishCompletion}};
  if (argc != 2 || !shells.contains(argv[1])) return 2;
  std::fputs(shells.at(argv[1])(groups).c_str(), stdout);
}
