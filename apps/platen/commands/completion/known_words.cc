#include "apps/platen/commands/completion/known_words.h"

#include <fmt/format.h>

namespace platen {
namespace {

using Names = std::vector<std::string>;

std::string Array(const std::string& name, const Names& items) {
  std::string out = name + "=(";
  for (const std::string& item : items) out += (out.back() == '(' ? "" : " ") + ShQuoted(item);
  return out + ")";
}

// A branch of the case: the places, and what is known there.
std::string Branch(const Names& places, const std::string& kind, const Names& known = {},
                   const Names& about = {}) {
  std::string out = "    ";
  for (const std::string& place : places) {
    out += (&place == &places.front() ? "" : "|") + ShQuoted(place);
  }
  out += ") kind=" + kind;
  if (!known.empty()) out += "\n      " + Array("known", known);
  if (!about.empty()) out += "\n      " + Array("about", about);
  return out + " ;;\n";
}

std::string ValueBranch(const std::string& command, const OptionSpec& option) {
  const ValueKind kind = ValueKindOf(option);
  if (kind == ValueKind::kNone) return "";
  Names places = {command + " --" + option.name};
  if (option.short_name != 0) places.push_back(command + " -" + option.short_name);
  const char* name = kind == ValueKind::kFile         ? "files"
                     : kind == ValueKind::kFolder     ? "folder"
                     : kind == ValueKind::kChoice     ? "choice"
                     : kind == ValueKind::kChoiceList ? "list"
                                                      : "text";
  return Branch(places, name, option.choices);
}

std::string ArgumentBranch(const std::string& command, const Argument& argument,
                           const std::vector<CommandGroup>& groups) {
  if (argument.kind == Argument::Kind::kFiles) return Branch({command}, "files");
  if (argument.kind == Argument::Kind::kFolder) return Branch({command}, "folder");
  const Names choices = ArgumentChoices(argument, groups);
  return Branch({command}, choices.empty() ? "text" : "choice", choices);
}

std::string CommandBranches(const CalledCommand& called, const std::vector<CommandGroup>& groups,
                            Texts texts) {
  const CommandSpec& spec = called.command->spec();
  Names names, about;
  std::string values;
  for (const OptionSpec& option : spec.options) {
    if (option.positional) continue;
    names.push_back("--" + option.name);
    if (texts == Texts::kYes) about.push_back(FirstSentence(option.help));
    values += ValueBranch(called.name, option);
  }
  return Branch({called.name + " -"}, "options", names, about) + values +
         ArgumentBranch(called.name, spec.argument, groups);
}

}  // namespace

ValueKind ValueKindOf(const OptionSpec& option) {
  switch (option.type) {
    case OptionType::kFlag:
      return ValueKind::kNone;
    case OptionType::kChoice:
      return ValueKind::kChoice;
    case OptionType::kChoiceList:
      return ValueKind::kChoiceList;
    default:
      return option.value_name == "FILE"  ? ValueKind::kFile
             : option.value_name == "DIR" ? ValueKind::kFolder
                                          : ValueKind::kText;
  }
}

std::vector<std::string> ArgumentChoices(const Argument& argument,
                                         const std::vector<CommandGroup>& groups) {
  if (argument.kind != Argument::Kind::kCommand) return argument.choices;
  std::vector<std::string> names;
  for (const CommandGroup& group : groups) {
    for (const Command& command : group.commands) names.push_back(command.name);
  }
  return names;
}

std::string FirstSentence(const std::string& text) {
  size_t end = text.find(". ");
  while (end != std::string::npos && text.substr(0, end).ends_with("e.g")) {
    end = text.find(". ", end + 1);
  }
  std::string sentence = text.substr(0, end);
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

std::string ShQuoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string KnownWords(const std::vector<CommandGroup>& groups, Texts texts) {
  Names commands, summaries;
  std::string branches;
  for (const CommandGroup& group : groups) {
    for (const Command& command : group.commands) {
      commands.push_back(command.name);
      if (texts == Texts::kYes) summaries.push_back(command.summary);
    }
  }
  for (const CalledCommand& called : CalledCommands(groups)) {
    branches += CommandBranches(called, groups, texts);
  }
  return "_platen_known() {\n"
         "  kind='' known=() about=()\n"
         "  case $1 in\n" +
         Branch({""}, "options", commands, summaries) +
         Branch({" -"}, "options", {"--help", "--version"}) + branches +
         "    *) return 1 ;;\n"
         "  esac\n"
         "}\n";
}

}  // namespace platen
