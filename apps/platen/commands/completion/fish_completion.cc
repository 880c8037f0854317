#include <fmt/format.h>

#include "apps/platen/commands/completion/completion.h"
#include "apps/platen/commands/completion/known_words.h"

namespace platen {
namespace {

// __platen_in NAME: the words before the cursor begin with the command NAME, "ocr" or
// "bench kernels". __platen_at NAME: and nothing else.
constexpr char kConditions[] = R"fish(
function __platen_first
    test (count (commandline -opc)) -eq 1
end

function __platen_in
    set -l words (commandline -opc)
    set -l length (count (string split ' ' -- $argv))
    test (count $words) -gt $length; or return 1
    test "$words[2..$(math $length + 1)]" = "$argv"
end

function __platen_at
    __platen_in $argv; and test (count (commandline -opc)) -eq 2
end

complete -c platen -f
)fish";

std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string{c};
  return out + "'";
}

// Words for -a, which fish reads as code once more: quoted twice.
std::string Choices(const std::vector<std::string>& choices, const std::string& function) {
  std::string words;
  for (const std::string& choice : choices) words += " " + Quoted(choice);
  return " -a " + Quoted("(" + function + words + ")");
}

constexpr char kWords[] = "printf '%s\\n'";
constexpr char kList[] = "__fish_append ,";
constexpr char kFolders[] = "(__fish_complete_directories)";

std::string ValueOf(const OptionSpec& option) {
  switch (ValueKindOf(option)) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kText:
      return " -x";
    case ValueKind::kFile:
      return " -r -F";
    case ValueKind::kFolder:
      return " -x -a " + Quoted(kFolders);
    case ValueKind::kChoice:
      return " -x" + Choices(option.choices, kWords);
    case ValueKind::kChoiceList:
      return " -x" + Choices(option.choices, kList);
  }
  return "";
}

std::string ArgumentOf(const Argument& argument, const std::vector<CommandGroup>& groups) {
  if (argument.kind == Argument::Kind::kFiles) return " -F";
  if (argument.kind == Argument::Kind::kFolder) return " -a " + Quoted(kFolders);
  const std::vector<std::string> choices = ArgumentChoices(argument, groups);
  return choices.empty() ? "" : Choices(choices, kWords);
}

std::string CommandLines(const CalledCommand& called, const std::vector<CommandGroup>& groups) {
  const CommandSpec& spec = called.command->spec();
  const char* condition = called.command->kinds.empty() ? "__platen_in " : "__platen_at ";
  const std::string line = "complete -c platen -n " + Quoted(condition + Quoted(called.name));
  std::string out;
  const std::string argument = ArgumentOf(spec.argument, groups);
  if (!argument.empty()) out += line + argument + "\n";
  for (const OptionSpec& option : spec.options) {
    if (option.positional) continue;
    out += line + (option.short_name == 0 ? "" : fmt::format(" -s {}", option.short_name)) +
           " -l " + Quoted(option.name) + ValueOf(option) + " -d " +
           Quoted(FirstSentence(option.help)) + "\n";
  }
  return out;
}

}  // namespace

std::string FishCompletion(const std::vector<CommandGroup>& groups) {
  std::string out = "# Completion of platen for fish, made by: platen completion fish\n";
  out += kConditions;
  for (const CommandGroup& group : groups) {
    for (const Command& command : group.commands) {
      out += "complete -c platen -n __platen_first" + Choices({command.name}, kWords) + " -d " +
             Quoted(command.summary) + "\n";
    }
  }
  for (const CalledCommand& called : CalledCommands(groups)) out += CommandLines(called, groups);
  return out;
}

}  // namespace platen
