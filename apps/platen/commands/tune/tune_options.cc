// The options of platen tune-mtp.

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "apps/platen/commands/tune/tune_command.h"

namespace platen {
namespace {

using Type = OptionType;

constexpr const char* kGroup = "Options";

OptionSpec SeedOption() {
  return {.name = "seed",
          .type = Type::kInteger,
          .default_value = "1",
          .value_name = "N",
          .group = kGroup,
          .help =
              "Which documents are trained on and in what order. The same in train and "
              "evaluate.",
          .min = 0,
          .max = 1 << 30};
}

OptionSpec DraftsOption(const char* value, const char* help) {
  return {.name = "drafts",
          .type = Type::kInteger,
          .default_value = value,
          .value_name = "K",
          .group = kGroup,
          .help = help,
          .min = 1,
          .max = 8};
}

OptionSpec ModelOfWork() {
  OptionSpec option = ModelOption(kGroup);
  option.help = "The model. Without it: the one that the pages were recorded with.";
  return option;
}

const OptionTable& TrainOptions() {
  static const OptionTable table = {
      DraftsOption("3", "Drafts of a chain that are trained for."),
      {.name = "heads",
       .type = Type::kInteger,
       .default_value = "0",
       .value_name = "N",
       .group = kGroup,
       .help = "Train N residual heads from nothing, which any model can have, in place of the "
               "model's own draft layer. 0: train what the model has.",
       .min = 0,
       .max = 8},
      {.name = "head-size",
       .type = Type::kInteger,
       .default_value = "0",
       .value_name = "N",
       .group = kGroup,
       .help = "Inner width of such a head. 0: the hidden size.",
       .min = 0,
       .max = 1 << 16},
      {.name = "fresh",
       .type = Type::kFlag,
       .default_value = "false",
       .group = kGroup,
       .help = "Begin with random weights instead of the model's own."},
      {.name = "from",
       .value_name = "FILE",
       .group = kGroup,
       .help = "Begin with the draft weights of this file."},
      {.name = "steps",
       .type = Type::kInteger,
       .default_value = "200",
       .value_name = "N",
       .group = kGroup,
       .help = "Steps of training.",
       .min = 1,
       .max = 1'000'000},
      {.name = "rate",
       .type = Type::kNumber,
       .default_value = "5e-5",
       .value_name = "X",
       .group = kGroup,
       .help = "Learning rate at its peak; it rises over the first twentieth of the steps and "
               "falls to 0. Weights that begin at random want 100 times as much.",
       .min = 1e-9,
       .max = 1},
      {.name = "rows",
       .type = Type::kInteger,
       .default_value = "2000",
       .value_name = "N",
       .group = kGroup,
       .help = "Tokens of answers in a step, at least; whole regions are taken.",
       .min = 1,
       .max = 1 << 24},
      {.name = "evaluate-every",
       .type = Type::kInteger,
       .default_value = "25",
       .value_name = "N",
       .group = kGroup,
       .help = "Steps between two looks at the documents that choose the best weights, and "
               "between checkpoints.",
       .min = 1,
       .max = 1'000'000},
      {.name = "labels",
       .type = Type::kChoice,
       .default_value = "hard",
       .value_name = "KIND",
       .group = kGroup,
       .help = "hard: the model's token; soft: its 32 most likely ones.",
       .choices = {"hard", "soft"}},
      {.name = "decay",
       .type = Type::kNumber,
       .default_value = "0",
       .value_name = "X",
       .group = kGroup,
       .help = "Pull of matrices towards where they began, times the rate.",
       .min = 0,
       .max = 10},
      {.name = "clip",
       .type = Type::kNumber,
       .default_value = "1",
       .value_name = "X",
       .group = kGroup,
       .help = "Largest norm of all gradients together.",
       .min = 1e-6,
       .max = 1e9},
      SeedOption(),
      ModelOfWork(),
      ThreadsOption(kGroup),
      HelpOption(kGroup),
  };
  return table;
}

const OptionTable& EvaluateOptions() {
  static const OptionTable table = {
      DraftsOption("3", "Drafts a round for which the weights must be better."),
      {.name = "head",
       .value_name = "FILE",
       .group = kGroup,
       .help = "The weights to compare. Without it: the best of training."},
      {.name = "against",
       .value_name = "FILE",
       .group = kGroup,
       .help = "What they are compared with. Without it: the model's own draft layer or heads."},
      {.name = "part",
       .type = Type::kChoice,
       .default_value = "judge",
       .value_name = "NAME",
       .group = kGroup,
       .help = "Documents that are looked at: judge (never trained on nor chosen by) or all, for "
               "records that were not trained on at all.",
       .choices = {"judge", "all"}},
      SeedOption(),
      ModelOfWork(),
      ThreadsOption(kGroup),
      JsonOption(kGroup),
      HelpOption(kGroup),
  };
  return table;
}

const OptionTable& InstallOptions() {
  static const OptionTable table = {
      {.name = "output",
       .value_name = "FILE",
       .group = kGroup,
       .help = "Where to write the weights. Without it: WORK/draft-head.safetensors.",
       .short_name = 'o'},
      {.name = "forget",
       .type = Type::kFlag,
       .default_value = "false",
       .group = kGroup,
       .help = "Then remove the records, which hold the text of your pages, and the results."},
      HelpOption(kGroup),
  };
  return table;
}

const OptionTable& InspectOptions() {
  static const OptionTable table = {
      {.name = "output",
       .value_name = "FILE",
       .group = kGroup,
       .help = "The web page. Without it: WORK/inspect.html.",
       .short_name = 'o'},
      {.name = "head",
       .value_name = "FILE",
       .group = kGroup,
       .help = "The weights to show beside the model's own. Without it: the best of training, if "
               "there are any."},
      DraftsOption("5", "Drafts a round, and to show behind every token."),
      {.name = "part",
       .type = Type::kChoice,
       .default_value = "auto",
       .value_name = "NAME",
       .group = kGroup,
       .help =
           "Documents that are looked at: judge (never trained on nor chosen by), all, or auto: "
           "judge if there are trained weights and such documents.",
       .choices = {"auto", "judge", "all"}},
      {.name = "regions",
       .type = Type::kInteger,
       .default_value = "12",
       .value_name = "N",
       .group = kGroup,
       .help = "Regions to show, those with the most misses first.",
       .min = 1,
       .max = 1000},
      SeedOption(),
      ModelOfWork(),
      ThreadsOption(kGroup),
      HelpOption(kGroup),
  };
  return table;
}

const OptionTable& RecordOptions() {
  static const OptionTable table = [] {
    OptionTable made;
    for (const char* name : {"record-mib", "pages", "granularity", "task", "dpi", "layout-model",
                             "text-layer", "precision", "threads", "quiet"}) {
      made.push_back(OptionFrom(OcrOptions(), name, kGroup));
    }
    OptionSpec model = ModelOption(kGroup);
    made.push_back(model);
    made.push_back(HelpOption(kGroup));
    return made;
  }();
  return table;
}

}  // namespace

const CommandSpec& TuneRecordCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen tune-mtp record WORK INPUT... [options]"},
      .description =
          "Reads the pages of INPUT as platen ocr does and keeps in WORK/records what the model "
          "held of every token (about 1 KiB a token and 256 values of its width), and in "
          "WORK/results what was read. The same command again goes on where it was stopped. "
          "Regions that were cut off are left out. The records hold the text of your pages: they "
          "stay where they are and can be removed (platen tune-mtp install --forget).\n",
      .options = RecordOptions(),
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
      .options = TrainOptions(),
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

const CommandSpec& TuneEvaluateCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen tune-mtp evaluate WORK [options]"},
      .description =
          "Shows how often drafts are right before and after training, on documents that were not "
          "trained on, for one to eight drafts a round: each draft if those before it were right, "
          "and tokens a round as decoding has them. The gain is judged by resampling documents. "
          "Writes WORK/evaluation.json.\n",
      .options = EvaluateOptions(),
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
      .options = InspectOptions(),
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

const CommandSpec& TuneInstallCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen tune-mtp install WORK [-o FILE]"},
      .description =
          "Writes the trained weights as a file for --draft-head, if platen tune-mtp evaluate "
          "found "
          "them better than the model's own. The model's files are not touched.\n",
      .options = InstallOptions(),
      .exit_codes = {{"0", "written"}, {"1", "no gain: nothing is written"}},
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

}  // namespace platen
