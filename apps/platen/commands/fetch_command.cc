// platen fetch: declared here, and done by platen-fetch, which lies beside platen. No code that
// goes to the network is in this program.

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/commands/commands.h"
#include "model/support/folder.h"

namespace platen {
namespace {

const OptionTable& FetchOptions() {
  using Type = OptionType;
  static const OptionTable table = {
      {.name = "revision",
       .value_name = "NAME",
       .group = "Options",
       .help = "Branch, tag or commit; the same as owner/name@NAME. Without it: main."},
      {.name = "all",
       .type = Type::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "Every file of the repository, not only those that a model is run with."},
      {.name = "quiet",
       .type = Type::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "No progress.",
       .short_name = 'q'},
      HelpOption("Options"),
  };
  return table;
}

}  // namespace

const CommandSpec& FetchCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen fetch OWNER/NAME[@REVISION] [options]"},
      .description =
          "Downloads a model from the Hugging Face hub into the cache that the hub's own programs "
          "use, and compares every file's checksum. The model can then be named wherever a model's "
          "folder can: platen ocr scans --model OWNER/NAME. No other command goes to the network. "
          "After an interruption the same command goes on.\n",
      .options = FetchOptions(),
      .variables = {
          {"HF_HUB_CACHE, HF_HOME",
           "where downloaded models are kept: HF_HUB_CACHE, else HF_HOME/hub, else "
           "~/.cache/huggingface/hub"},
          {"HF_TOKEN", "a token for models that are not public; sent to the hub alone"},
          {"HF_ENDPOINT", "another hub than https://huggingface.co"},
          {"HF_HUB_OFFLINE=1", "refuse to go to the network"},
          {"HF_HUB_DOWNLOAD_TIMEOUT", "seconds after which a silent connection is given up (30)"},
          {"https_proxy, no_proxy", "as for other programs"}}};
  return spec;
}

int RunFetchCommand(const Words& words) {
  std::string program = ExecutableFolder() + "/platen-fetch";
  std::vector<std::string> kept = words;
  std::vector<char*> arguments = {program.data()};
  for (std::string& word : kept) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  ThrowFileError(program, "be started", errno);
}

}  // namespace platen
