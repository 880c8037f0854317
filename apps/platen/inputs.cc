#include "apps/platen/inputs.h"

#include <iostream>
#include <iterator>

#include "model/support/error.h"
#include "model/support/mapped_file.h"

namespace platen {
namespace {

constexpr size_t kMaxListBytes = size_t{1} << 30;

void AddListed(std::vector<std::string> names, InputSpec& spec) {
  for (std::string& name : names) spec.listed.push_back(std::move(name));
}

// A list file; its faults are the command line's.
std::vector<std::string> ReadListFile(const std::string& path) {
  try {
    return ParseNameList(ReadSmallFile(path, kMaxListBytes));
  } catch (const Error& e) {
    throw Error(ErrorKind::kUsage, {path, "manifest"}, e.reason());
  }
}

}  // namespace

void RequireInputs(const Settings& settings) {
  if (settings.positional().empty() && settings.Text("manifest").empty()) {
    throw Error(ErrorKind::kUsage, {"", "INPUT"}, "nothing to read was named");
  }
}

void AddNamedInputs(const Settings& settings, InputSpec& spec) {
  for (const std::string& word : settings.positional()) {
    if (word != "-") {
      spec.arguments.push_back(word);
      continue;
    }
    const std::string list((std::istreambuf_iterator<char>(std::cin)),
                           std::istreambuf_iterator<char>());
    AddListed(ParseNameList(list), spec);
  }
  const std::string& manifest = settings.Text("manifest");
  if (!manifest.empty()) AddListed(ReadListFile(manifest), spec);
}

}  // namespace platen
