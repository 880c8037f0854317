// What platen tune-mtp says of each of its kinds.
#include "apps/platen/cli/command_line.h"
#include "apps/platen/commands/tune/tune_command.h"
#include "apps/platen/commands/tune/tune_options.h"

namespace platen {

const CommandSpec& TuneRecordCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen tune-mtp record WORK INPUT... [options]"},
      .description =
          "Reads the pages of INPUT as platen ocr does and keeps in WORK/records what the model "
          "held of every token (about 1 KiB a token and 256 values of its width), and in "
          "WORK/results what was read. The same command again goes on where it was stopped. "
          "Regions that were cut off are left out. The records hold the text of your pages: they "
          "stay where they are and can be removed (platen tune-mtp install --forget).\n",
      .options = TuneRecordOptions(),
      .argument = {.kind = Argument::Kind::kFiles}};
  return spec;
}

const CommandSpec& TuneTrainCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen tune-mtp train WORK [options]"},
      .description =
          "Trains on seven tenths of the recorded documents; one tenth chooses the best weights on "
          "the way, two tenths are kept for platen tune-mtp evaluate. Stopped, the same command "
          "goes on from the last checkpoint and ends with the same weights, bit for bit. Writes "
          "WORK/train/best.safetensors and a line a step to WORK/train/log.jsonl.\n",
      .options = TuneTrainOptions(),
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

const CommandSpec& TuneEvaluateCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen tune-mtp evaluate WORK [options]"},
      .description =
          "Shows how often drafts are right before and after training, on documents that were not "
          "trained on, for one to eight drafts a round: each draft if those before it were right, "
          "and tokens a round as decoding has them. The gain is judged by resampling documents; "
          "no class of five documents or more (a folder of them) and no general set may lose more "
          "than 2 %. Writes WORK/evaluation.json.\n",
      .options = TuneEvaluateOptions(),
      .exit_codes = {{"0", "the trained weights are better"},
                     {"1", "they are not, or there are too few documents to tell"}},
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

const CommandSpec& TuneInspectCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen tune-mtp inspect WORK [options]"},
      .description =
          "Writes one web page with the recorded regions in which drafts miss most: the text token "
          "by token, the drafts behind each, which were right, what was expected, and how sure "
          "they were; acceptance by position before and after, and the curves of training. The "
          "page is "
          "one file without scripts that loads nothing. It holds text and pictures of your "
          "pages.\n",
      .options = TuneInspectOptions(),
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

const CommandSpec& TuneInstallCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen tune-mtp install WORK [-o FILE]"},
      .description =
          "Puts the trained weights where every run of yours with the model finds them, if platen "
          "tune-mtp evaluate found them better than the model's own; packed weights that are kept "
          "for it carry them then. The text stays the same. The model's files are not touched: "
          "remove the file that is named, and its own drafts are back.\n",
      .options = TuneInstallOptions(),
      .exit_codes = {{"0", "installed"}, {"1", "no gain: nothing is installed"}},
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

}  // namespace platen
