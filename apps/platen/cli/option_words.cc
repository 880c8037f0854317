#include "apps/platen/cli/option_words.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>

#include "apps/platen/cli/option_values.h"
#include "model/support/edit_distance.h"

namespace platen {
namespace {

namespace po = boost::program_options;

void Describe(const OptionSpec& option, const std::string& names,
              po::options_description& description) {
  if (option.type == OptionType::kFlag) {
    description.add_options()(names.c_str(), po::bool_switch());
  } else if (option.type == OptionType::kTextList) {
    description.add_options()(names.c_str(), po::value<std::vector<std::string>>()->composing());
  } else {
    description.add_options()(names.c_str(), po::value<std::string>());
  }
}

po::options_description Describe(const OptionTable& table) {
  po::options_description description;
  for (const OptionSpec& option : table) {
    if (option.positional) continue;
    const bool is_short = option.short_name != 0;
    Describe(option, is_short ? fmt::format("{},{}", option.name, option.short_name) : option.name,
             description);
    for (const std::string& name : option.former_names) Describe(option, name, description);
  }
  return description;
}

[[noreturn]] void ThrowUnknownOption(const OptionTable& table, const std::string& written) {
  const std::string bare = written.substr(0, written.find('='));
  const std::string answer = AnswerTo(bare);
  if (!answer.empty()) ThrowUsage(bare, answer);
  std::vector<std::string> names;
  for (const OptionSpec& option : table) {
    if (!option.positional) names.push_back("--" + option.name);
  }
  const std::string nearest = NearestName(bare, names);
  ThrowUsage(bare, nearest.empty() ? "unknown option; --help lists all of them"
                                   : fmt::format("unknown option; did you mean {}?", nearest));
}

// Boost's parser, with its faults in our words.
po::variables_map Parse(const OptionTable& table, const std::vector<std::string>& words,
                        std::vector<std::string>& positional) {
  const po::options_description description = Describe(table);
  namespace style = po::command_line_style;
  try {
    const po::parsed_options parsed =
        po::command_line_parser(words)
            .options(description)
            .style(style::unix_style & ~style::allow_guessing & ~style::allow_sticky)
            .run();
    po::variables_map values;
    po::store(parsed, values);
    for (const auto& option : parsed.options) {
      if (option.position_key >= 0) positional.push_back(option.value.at(0));
    }
    return values;
  } catch (const po::unknown_option& e) {
    ThrowUnknownOption(table, e.get_option_name());
  } catch (const po::multiple_occurrences& e) {
    ThrowUsage(e.get_option_name(), "given more than once");
  } catch (const po::invalid_command_line_syntax& e) {
    const bool missing = e.kind() == po::invalid_syntax::missing_parameter ||
                         e.kind() == po::invalid_syntax::empty_adjacent_parameter;
    ThrowUsage(e.get_option_name(), missing ? "needs a value" : "takes no value");
  } catch (const po::error& e) {
    ThrowUsage("", e.what());
  }
}

std::string TextOf(OptionType type, const po::variable_value& value) {
  if (type == OptionType::kFlag) return "true";
  if (type != OptionType::kTextList) return value.as<std::string>();
  return fmt::format("{}", fmt::join(value.as<std::vector<std::string>>(), "\n"));
}

}  // namespace

OptionWords ParseWords(const OptionTable& table, const std::vector<std::string>& words) {
  OptionWords result;
  const po::variables_map given = Parse(table, words, result.positional);
  const auto take = [&](const OptionSpec& option, const std::string& name) {
    const po::variable_value& value = given[name];
    if (!value.empty() && !value.defaulted()) result.values[name] = TextOf(option.type, value);
  };
  for (const OptionSpec& option : table) {
    if (option.positional) continue;
    take(option, option.name);
    for (const std::string& name : option.former_names) take(option, name);
  }
  return result;
}

std::string AnswerTo(const std::string& option) {
  static const std::map<std::string, std::string> answers = {
      {"--lang", "platen has no language option; the model decides (see --model)"},
      {"--language", "platen has no language option; the model decides (see --model)"},
      {"-l", "platen has no language option; the model decides (see --model)"},
      {"--resume", "is not needed: the same command goes on from what is finished"},
      {"--jobs", "unknown option; did you mean --threads (-j)?"},
      {"--f32-gemm", "is not needed: platen always multiplies with its own kernels; leave it out"},
      {"--recursive", "is not needed: folders are read with everything below them"},
      {"-r", "is not needed: folders are read with everything below them"},
  };
  const auto found = answers.find(option);
  return found == answers.end() ? "" : found->second;
}

}  // namespace platen
