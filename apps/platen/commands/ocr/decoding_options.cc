#include "apps/platen/commands/ocr/decoding_options.h"

#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "model/engine/acceptance.h"

namespace platen {

using Type = OptionType;

void AddModel(OptionTable& table) {
  const std::string group = "Model and decoding";
  table.push_back(ModelOption(group));
  table.push_back(LayoutModelOption(group));
  table.push_back(BoxRulesOption(group));
  table.push_back({.name = "task",
                   .type = Type::kChoice,
                   .default_value = "text",
                   .value_name = "TASK",
                   .group = group,
                   .help = "What the regions are read as.",
                   .choices = {"text", "table", "formula"},
                   .changes_results = 2});
  table.push_back({.name = "draft-length",
                   .type = Type::kInteger,
                   .default_value = "3",
                   .value_name = "N",
                   .group = group,
                   .help =
                       "Most tokens drafted ahead in each round of speculative decoding. Changes "
                       "the speed, never the text. 0 is plain decoding.",
                   .min = 0,
                   .max = 8,
                   .changes_results = OptionSpec::kNo});
  table.push_back(
      {.name = "drafters",
       .type = Type::kChoice,
       .default_value = "auto",
       .value_name = "NAME",
       .group = group,
       .help = "Who guesses tokens ahead: mtp, the model's own draft layer; ngram, a lookup in "
               "what the region has said so far; both; none. auto: both, as far as the model has "
               "a draft layer. Changes the speed, never the text.",
       .choices = {"auto", "mtp", "ngram", "mtp,ngram", "none"},
       .changes_results = OptionSpec::kNo});
  table.push_back(DraftHeadOption(group));
  table.push_back(
      {.name = "draft-vocabulary",
       .value_name = "FILE",
       .group = group,
       .help = "The tokens that the draft layer chooses among, as platen draft-vocabulary "
               "makes them of your texts: fewer tokens, faster drafts. Changes the speed, never "
               "the text.",
       .changes_results = OptionSpec::kNo});
  table.push_back(
      {.name = "acceptance",
       .type = Type::kChoice,
       .default_value = AcceptanceRuleName(AcceptanceRule::kExact),
       .value_name = "RULE",
       .group = group,
       .help = "When a drafted token is kept. exact: when it is what the model chooses itself, "
               "so that the text is that of decoding without drafts. With --temperature also "
               "rejection (the same distribution of texts, not the same text) and typical (a "
               "likely draft is taken; faster, and lossy: results say so).",
       .choices = {"exact", "rejection", "typical"},
       .changes_results = 16});
  table.push_back({.name = "temperature",
                   .type = Type::kNumber,
                   .default_value = "0",
                   .value_name = "T",
                   .group = group,
                   .help = "0: the most likely token is taken. Above: tokens are drawn, the more "
                           "evenly the higher it is; the same --seed draws the same text.",
                   .min = 0,
                   .max = 100,
                   .changes_results = 12});
  table.push_back({.name = "top-k",
                   .type = Type::kInteger,
                   .default_value = "0",
                   .value_name = "N",
                   .group = group,
                   .help = "With --temperature: draw from the N most likely tokens. 0: all.",
                   .min = 0,
                   .max = 1 << 20,
                   .changes_results = 13});
  table.push_back({.name = "top-p",
                   .type = Type::kNumber,
                   .default_value = "1",
                   .value_name = "P",
                   .group = group,
                   .help = "With --temperature: draw from the most likely tokens that together "
                           "have this chance.",
                   .min = 0.0001,
                   .max = 1,
                   .changes_results = 14});
  table.push_back({.name = "seed",
                   .type = Type::kInteger,
                   .default_value = "0",
                   .value_name = "N",
                   .group = group,
                   .help = "With --temperature: another number draws another text.",
                   .min = 0,
                   .max = 9007199254740991,
                   .changes_results = 15});
  table.push_back({.name = "draft-policy",
                   .type = Type::kChoice,
                   .default_value = "adaptive",
                   .value_name = "POLICY",
                   .group = group,
                   .help =
                       "adaptive: as many drafts as pay with the regions at hand, measured while "
                       "running. fixed: always --draft-length.",
                   .choices = {"adaptive", "fixed"},
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "repetition-penalty",
                   .type = Type::kNumber,
                   .default_value = "1",
                   .value_name = "X",
                   .group = group,
                   .help = "Above 1, tokens that have occurred become less likely.",
                   .min = 0.5,
                   .max = 2,
                   .changes_results = 7});
  table.push_back({.name = "max-new-tokens",
                   .type = Type::kInteger,
                   .default_value = "0",
                   .value_name = "N",
                   .group = group,
                   .help = "Most tokens a region may produce. 0: in proportion to its size.",
                   .min = 0,
                   .max = 131072,
                   .changes_results = 8});
  table.push_back(PrecisionOption(group));
  table.push_back(PackedOption(group));
  table.push_back(PackedDirOption(group));
  table.push_back(AttentionOption(group));
}

}  // namespace platen
