// Values of a command's options, from four places: command line > environment > configuration file
// > default.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/platen/cli/option_table.h"

namespace platen {

enum class SettingOrigin { kDefault, kConfig, kEnvironment, kCommandLine };
const char* OriginName(SettingOrigin origin);

struct Setting {
  std::string value;
  SettingOrigin origin = SettingOrigin::kDefault;
};

// Immutable after parsing. Every value has been checked against its option's type and range.
class Settings {
 public:
  const std::string& Text(const std::string& name) const;
  int64_t Integer(const std::string& name) const;
  double Number(const std::string& name) const;
  bool Flag(const std::string& name) const;
  std::vector<std::string> List(const std::string& name) const;   // kChoiceList
  std::vector<std::string> Items(const std::string& name) const;  // kTextList, in order
  bool IsDefault(const std::string& name) const;

  const std::map<std::string, Setting>& all() const { return values_; }
  const std::vector<std::string>& positional() const { return positional_; }
  // Former names that were used: one sentence each for the log.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  friend Settings ParseSettings(const OptionTable&, const std::vector<std::string>&);
  void ApplyConfig(const OptionTable& table, const std::string& path);
  void ApplyEnvironment(const OptionTable& table);
  void ApplyPositional(const OptionTable& table);
  void ApplyWords(const OptionTable& table, const std::map<std::string, std::string>& words);

  std::map<std::string, Setting> values_;
  std::vector<std::string> positional_;
  std::vector<std::string> notices_;
};

// Parses the words after the subcommand. If the table has an option "config", its file is read.
// Throws Error(kUsage) for anything unknown (naming the nearest known option or key), repeated, of
// the wrong type or out of range.
Settings ParseSettings(const OptionTable& table, const std::vector<std::string>& words);

}  // namespace platen
