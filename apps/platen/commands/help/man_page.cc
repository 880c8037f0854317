#include "apps/platen/commands/help/man_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/help.h"
#include "apps/platen/commands/help/roff.h"

namespace platen {
namespace {

constexpr char kFooter[] = "platen " PLATEN_VERSION;

void AddOptions(const OptionTable& table, Roff& page) {
  std::string group;
  for (const OptionSpec& option : table) {
    if (option.positional) continue;
    if (option.group != group) page.Bold(option.group + ":");
    group = option.group;
    const std::string before =
        option.short_name != 0 ? fmt::format("-{}, ", option.short_name) : "";
    page.Item(before + "--" + option.name, option.value_name, OptionText(option));
  }
}

void AddItems(const std::vector<Meaning>& meanings, Roff& page) {
  for (const Meaning& meaning : meanings) page.Item(meaning.name, "", meaning.text);
}

std::string Lines(const std::vector<std::string>& lines) {
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

void AddVariablesOfOptions(Roff& page) {
  page.Paragraph(
      "Every option of a command, except --help and --man, can be set as a variable: PLATEN_ and "
      "the option's name in capitals with _ for -, as in PLATEN_THREADS=4. The command line wins "
      "over the environment, the environment over the configuration file (--config), that over the "
      "default. Of a variable that is called almost like one of these, a warning names the one "
      "that is meant.");
}

void AddExitCodes(const CommandSpec& command, Roff& page) {
  std::vector<Meaning> codes = CommonExitCodes();
  for (const Meaning& own : command.exit_codes) {
    for (Meaning& code : codes) {
      if (code.name == own.name) code.text = own.text;
    }
  }
  page.Section("EXIT STATUS");
  AddItems(codes, page);
}

void AddCommand(const CalledCommand& called, Roff& page) {
  const CommandSpec& command = called.command->spec();
  page.Subsection("platen " + called.name);
  page.AsItIs(Lines(command.synopsis));
  page.Blocks(command.description);
  AddOptions(command.options, page);
  page.Blocks(command.after);
  if (command.exit_codes.empty()) return;
  page.Paragraph("Exit codes: " + MeaningsInALine(command.exit_codes) + ".");
}

void AddFiles(Roff& page) {
  page.Section("FILES");
  AddItems({{"DIR/run.json, DIR/failures.jsonl",
             "what a run into DIR did and cost, and what failed in it"},
            {"DIR/.platen/", "what was read, and what is finished, so that nothing is read twice"},
            {"~/.cache/platen/", "packed weights of models whose folder cannot be written to"},
            {"~/.cache/huggingface/hub/", "models that platen fetch has downloaded"},
            {"../share/platen/platen-mini/", "beside the program's folder: the bundled model"},
            {"../share/platen/configs/", "example configurations, every key explained"},
            {"/etc/platen/NAME.json", "the configuration of the service platen@NAME"}},
           page);
}

void AddExamples(Roff& page) {
  page.Section("EXAMPLES");
  page.Item("platen ocr page.png", "", "Print the text of a page.");
  page.Item("platen ocr scans -o text", "",
            "Read a folder with everything below it; the same command again reads what is new.");
  page.Item("platen export text --format pdf,hocr", "",
            "Write searchable PDF and hOCR of what was read, without reading it again.");
  page.Item("platen fetch zai-org/GLM-OCR", "", "Download a large model, once.");
  page.Item("platen ocr scans --model zai-org/GLM-OCR -o text", "", "Read with it.");
}

}  // namespace

std::string ManPage(const std::vector<CommandGroup>& groups) {
  Roff page("platen", kFooter, "turns scans into text on CPU cores");
  const std::vector<CalledCommand> commands = CalledCommands(groups);
  page.Section("SYNOPSIS");
  page.AsItIs("platen COMMAND [words] [options]\nplaten help [COMMAND]\nplaten --version\n");
  page.Section("DESCRIPTION");
  page.Paragraph(
      "platen reads scanned pages and writes their text, with a vision-language model on CPU "
      "cores. It never loses a page, goes on where it was after an interruption, and writes the "
      "same bytes every time. Only platen fetch goes to the network.");
  for (const CalledCommand& called : commands) {
    page.Item("platen " + called.name, "", called.command->summary);
  }
  page.Section("COMMANDS");
  for (const CalledCommand& called : commands) AddCommand(called, page);
  page.Section("ENVIRONMENT");
  AddVariablesOfOptions(page);
  for (const CalledCommand& called : commands) AddItems(called.command->spec().variables, page);
  AddFiles(page);
  AddExitCodes({}, page);
  AddExamples(page);
  return page.text();
}

std::string ManPageOf(const CalledCommand& called) {
  const CommandSpec& command = called.command->spec();
  std::string name = "platen " + called.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  Roff page(name, kFooter, called.command->summary);
  page.Section("SYNOPSIS");
  page.AsItIs(Lines(command.synopsis));
  page.Section("DESCRIPTION");
  page.Blocks(command.description);
  page.Section("OPTIONS");
  AddOptions(command.options, page);
  page.Blocks(command.after);
  page.Section("ENVIRONMENT");
  AddVariablesOfOptions(page);
  AddItems(command.variables, page);
  AddExitCodes(command, page);
  page.Section("SEE ALSO");
  page.Paragraph("platen(1)");
  return page.text();
}

}  // namespace platen
