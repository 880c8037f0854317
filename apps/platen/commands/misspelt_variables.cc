#include "apps/platen/commands/misspelt_variables.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "apps/platen/cli/option_table.h"
#include "apps/platen/cli/option_words.h"
#include "apps/platen/commands/commands.h"
#include "model/support/display_text.h"
#include "model/support/edit_distance.h"

namespace platen {
namespace {

constexpr std::string_view kPrefix = "PLATEN_";

// "PLATEN_DRAFT_LENGTH" -> "draft-length".
std::string OptionOfVariable(std::string_view name) {
  std::string option = OptionName(std::string(name.substr(kPrefix.size())));
  for (char& c : option) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return option;
}

// Of all commands: a variable that one of them reads is no mistake for the others.
struct KnownVariables {
  std::vector<std::string> names;
  std::map<std::string, std::string> now;  // by what they were called

  KnownVariables() {
    for (const CalledCommand& called : CalledCommands(CommandGroups())) {
      for (const OptionSpec& option : called.command->spec().options) {
        if (!option.in_environment) continue;
        const std::string name = EnvironmentName(option.name);
        names.push_back(name);
        for (const std::string& former : option.former_names) now[EnvironmentName(former)] = name;
      }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
};

// Empty: nothing is known of the name.
std::string WhatIsMeant(const KnownVariables& known, const std::string& name) {
  const auto former = known.now.find(name);
  if (former != known.now.end()) return "is called " + former->second;
  const std::string answer = AnswerTo("--" + OptionOfVariable(name));
  if (!answer.empty()) return answer;
  const std::string nearest = NearestName(name, known.names);
  // PLATEN_DIR is no PLATEN_DPI.
  const auto letters = static_cast<int64_t>(name.size() - kPrefix.size());
  const bool near = nearest.starts_with(name) || 2 * EditDistance(name, nearest) < letters;
  return near && !nearest.empty() ? fmt::format("did you mean {}?", nearest) : "";
}

}  // namespace

std::vector<std::string> MisspeltVariables(const std::vector<std::string>& environment) {
  std::vector<std::string> given;
  for (const std::string& variable : environment) {
    if (variable.starts_with(kPrefix)) given.push_back(variable.substr(0, variable.find('=')));
  }
  if (given.empty()) return {};  // a start makes no other command's options
  const KnownVariables known;
  std::vector<std::string> notices;
  for (const std::string& name : given) {
    if (std::binary_search(known.names.begin(), known.names.end(), name)) continue;
    const std::string meant = WhatIsMeant(known, name);
    if (meant.empty()) continue;
    notices.push_back(fmt::format("{}: this variable of the environment is not used; {}",
                                  DisplayName(name), meant));
  }
  std::sort(notices.begin(), notices.end());
  return notices;
}

std::vector<std::string> MisspeltVariables() {
  std::vector<std::string> environment;
  for (char** variable = ::environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  return MisspeltVariables(environment);
}

}  // namespace platen
