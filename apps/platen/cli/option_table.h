// Options declared once: parsed, read from configuration files, shown in help and reported from one
// table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace platen {

// kTextList may be given several times; its values are separated by newlines in Setting::value.
enum class OptionType { kFlag, kText, kTextList, kInteger, kNumber, kChoice, kChoiceList };

struct OptionSpec {
  static constexpr int kUnstated = -1;
  static constexpr int kNo = 0;
  static constexpr int kRendering = -2;

  std::string name = "";  // "draft-length"; in configuration files "draft_length"
  OptionType type = OptionType::kText;
  std::string default_value = "";  // as on the command line; flags: "false"
  std::string value_name = "";     // unit or kind, shown in help: "N", "DIR", "MiB"
  std::string group = "";          // heading in help
  std::string help = "";           // one or two sentences
  double min = 0;                  // kInteger, kNumber
  double max = 0;
  std::string word = "";                  // that may stand in place of the number; empty: none
  std::vector<std::string> choices = {};  // kChoice, kChoiceList
  // Choices that are no more, each with what to take instead: refused with it.
  std::vector<std::pair<std::string, std::string>> former_choices = {};
  bool in_config = true;       // may stand in a configuration file
  bool in_environment = true;  // may be set as a variable, see EnvironmentName
  // The words that belong to no option; kTextList. Has a name in files and in the environment
  // alone.
  bool positional = false;
  char short_name = 0;
  // What it was called: understood on the command line and in configuration files with a notice,
  // for one release; help does not show it.
  std::vector<std::string> former_names = {};
  // Whether the text that is read may depend on it: kNo, or its place, 1, 2, ..., among the
  // settings of the outputs (commands/ocr/result_settings.h). kRendering: what is read does not,
  // but how outputs show it does. kUnstated: of no command that writes outputs.
  int changes_results = kUnstated;
  // The value with which results are as before the option came; empty: its default.
  std::string value_before = "";
  std::string name_in_results = "";  // there, if not its key
  bool pdf_only = false;             // of those: it concerns PDF documents alone
};

using OptionTable = std::vector<OptionSpec>;

// "draft-length" -> "draft_length", the option's key in configuration files and run.json; and back.
std::string ConfigKey(const std::string& option_name);
std::string OptionName(const std::string& config_key);

// "draft-length" -> "PLATEN_DRAFT_LENGTH", the variable that overrides configuration and default.
std::string EnvironmentName(const std::string& option_name);

// True for the option's name and for what it was called.
bool IsCalled(const OptionSpec& option, const std::string& name);

// The option of another command's table, under the heading `group` of this one. It must be there.
OptionSpec OptionFrom(const OptionTable& table, const std::string& name, const std::string& group);

}  // namespace platen
