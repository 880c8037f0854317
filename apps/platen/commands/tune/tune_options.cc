#include "apps/platen/commands/tune/tune_options.h"

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/commands/ocr/ocr_options.h"

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

OptionSpec VocabularyOption(const char* help) {
  OptionSpec option = OptionFrom(OcrOptions(), "draft-vocabulary", kGroup);
  option.help = help;
  return option;
}

OptionSpec ModelOfWork() {
  OptionSpec option = ModelOption(kGroup);
  option.help = "The model. Without it: the one that the pages were recorded with.";
  return option;
}

}  // namespace

const OptionTable& TuneTrainOptions() {
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
      VocabularyOption(
          "Train for drafts of these tokens alone, as platen draft-vocabulary makes them "
          "of your texts; labels outside of it have no loss."),
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

const OptionTable& TuneEvaluateOptions() {
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
      {.name = "general",
       .value_name = "WORK2",
       .group = kGroup,
       .help = "A work folder with records of pages of other kinds, which must not lose more than "
               "2 %. Without it: WORK/general, if there is one."},
      VocabularyOption("Let both choose among these tokens alone, as --draft-vocabulary of a run."),
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

const OptionTable& TuneInstallOptions() {
  static const OptionTable table = {
      {.name = "output",
       .value_name = "FILE",
       .group = kGroup,
       .help = "Write the weights to this file, for --draft-head, instead of installing them for "
               "every run with the model.",
       .short_name = 'o'},
      {.name = "forget",
       .type = Type::kFlag,
       .default_value = "false",
       .group = kGroup,
       .help = "Then remove what holds text of your pages: the records, the results, the page of "
               "inspect, and those of WORK/general."},
      ModelOfWork(),
      PackedDirOption(kGroup),
      HelpOption(kGroup),
  };
  return table;
}

const OptionTable& TuneInspectOptions() {
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

const OptionTable& TuneRecordOptions() {
  static const OptionTable table = [] {
    OptionTable made;
    for (const char* name : {"record-mib", "pages", "granularity", "task", "dpi", "layout-model",
                             "text-layer", "precision", "threads", "force", "quiet"}) {
      made.push_back(OptionFrom(OcrOptions(), name, kGroup));
    }
    OptionSpec model = ModelOption(kGroup);
    made.push_back(model);
    made.push_back(HelpOption(kGroup));
    return made;
  }();
  return table;
}

}  // namespace platen
