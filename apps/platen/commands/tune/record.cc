// platen tune-mtp record: platen ocr that keeps records.

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/commands/tune/tune_command.h"
#include "apps/platen/commands/tune/work_folder.h"
#include "model/support/error.h"

namespace platen {
namespace {

// Exit code 1 says that a page failed, and nothing else.
WorkFolder WorkFor(const Settings& settings) {
  return WithoutExitOne([&] {
    WorkFolder work(settings.positional()[0], Folder::Missing::kCreate);
    work.KeepModel(LocateModel(settings.Text("model")));
    work.RefuseLinks();
    return work;
  });
}

}  // namespace

// Pages that are read again are recorded again: of several records of a place the last counts.
int RunTuneRecord(const Words& words) {
  const auto settings = ParseCommand(TuneRecordCommand(), words);
  if (!settings) return kExitDone;
  const std::vector<std::string>& named = settings->positional();
  if (named.size() < 2) {
    throw Error(ErrorKind::kUsage, {}, "name the work folder, then what to read");
  }
  const WorkFolder work = WorkFor(*settings);
  Words ocr(named.begin() + 1, named.end());
  ocr.insert(ocr.end(), {"-o", work.results(), "--record-drafts", work.records(), "--format",
                         "txt,json", "--temperature", "0"});
  for (const OptionSpec& option : TuneRecordCommand().options) {
    if (option.name == "help" || settings->IsDefault(option.name)) continue;
    ocr.push_back("--" + option.name);
    if (option.type != OptionType::kFlag) ocr.push_back(settings->Text(option.name));
  }
  return RunOcrCommand(ocr);
}

}  // namespace platen
