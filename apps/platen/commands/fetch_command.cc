// platen fetch: starts platen-fetch, which lies beside platen. No code that goes to the network is
// in this program.

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "apps/platen/cli/locate.h"
#include "apps/platen/commands/commands.h"
#include "model/support/folder.h"

namespace platen {

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
