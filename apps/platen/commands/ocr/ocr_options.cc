#include "apps/platen/commands/ocr/ocr_options.h"

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/commands/ocr/decoding_options.h"
#include "apps/platen/commands/ocr/document_options.h"
#include "apps/platen/commands/ocr/limit_options.h"

namespace platen {
namespace {

using Type = OptionType;

void AddResources(OptionTable& table) {
  const std::string group = "Resources";
  table.push_back(ThreadsOption(group));
  table.push_back(IsaOption(group));
  table.push_back({.name = "slots",
                   .type = Type::kInteger,
                   .default_value = "8",
                   .value_name = "N",
                   .group = group,
                   .help = "Pages in memory at once, fewer where memory is small. A page of more "
                           "than 25 megapixels counts as several.",
                   .min = 1,
                   .max = 1024,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "kv-cache-mib",
                   .type = Type::kInteger,
                   .default_value = "0",
                   .value_name = "MiB",
                   .group = group,
                   .help = "Memory for the attention cache; pages wait while it is full. 0: a "
                           "quarter of the memory that may be used, at most 16 GiB; what is not "
                           "needed is not touched.",
                   .min = 0,
                   .max = 1 << 20,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "batch-patches",
                   .type = Type::kInteger,
                   .default_value = "0",
                   .value_name = "N",
                   .group = group,
                   .help = "Most image patches encoded together, unless one region has more. 0: "
                           "2400; with a model whose layers fit into a core's cache, as the "
                           "bundled one's do, 128 for each thread, at least 256.",
                   .min = 0,
                   .max = 1e6,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "batch-rows",
                   .type = Type::kInteger,
                   .default_value = "0",
                   .value_name = "N",
                   .group = group,
                   .help = "Most prompt tokens prefilled together, unless one region has more. 0: "
                           "2400; with a model whose layers fit into a core's cache, as the "
                           "bundled one's do, 32 for each thread, at least 64.",
                   .min = 0,
                   .max = 1e6,
                   .changes_results = OptionSpec::kNo});
}

void AddReporting(OptionTable& table) {
  const std::string group = "Reporting";
  table.push_back({.name = "config",
                   .value_name = "FILE",
                   .group = group,
                   .help = "Take options from a JSON file (see configs/); the command line wins.",
                   .in_config = false,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "progress-interval",
                   .type = Type::kNumber,
                   .default_value = "30",
                   .value_name = "S",
                   .group = group,
                   .help = "Seconds between progress lines where standard error is no terminal. "
                           "0: none.",
                   .min = 0,
                   .max = 1e6,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "quiet",
                   .type = Type::kFlag,
                   .default_value = "false",
                   .group = group,
                   .help = "No progress and no summary; warnings and errors remain.",
                   .short_name = 'q',
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "log-level",
                   .type = Type::kChoice,
                   .default_value = "info",
                   .value_name = "LEVEL",
                   .group = group,
                   .help = "Messages on standard error.",
                   .choices = {"error", "warning", "info", "debug"},
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "verbose",
                   .type = Type::kFlag,
                   .default_value = "false",
                   .group = group,
                   .help = "The same as --log-level debug: every page and document.",
                   .short_name = 'v',
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "log-format",
                   .type = Type::kChoice,
                   .default_value = "text",
                   .value_name = "FORMAT",
                   .group = group,
                   .help = "json: each message on standard error is a line of JSON with time, "
                           "level and message, progress with its counts too.",
                   .choices = {"text", "json"},
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "metrics-file",
                   .value_name = "FILE",
                   .group = group,
                   .help = "Write counts of the run as Prometheus reads them, every 15 seconds and "
                           "at the end, for node_exporter's textfile collector: a name ending in "
                           ".prom in its folder.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "metrics",
                   .value_name = "FILE",
                   .group = group,
                   .help = "Write what decoding did for each page, a line of JSON each: rounds, "
                           "drafts, tokens, preemptions.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "record-drafts",
                   .value_name = "DIR",
                   .group = group,
                   .help = "Record for platen tune-mtp what the model held of every token. The "
                           "records hold the text of your pages.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "record-mib",
                   .type = OptionType::kInteger,
                   .default_value = "8192",
                   .value_name = "N",
                   .group = group,
                   .help = "Size of all records in that folder, beyond which none is added.",
                   .min = 1,
                   .max = 1 << 30,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "trace",
                   .value_name = "FILE",
                   .group = group,
                   .help = "Write what each stage and worker did when, products by shape and idle "
                           "gaps included, for ui.perfetto.dev.",
                   .changes_results = OptionSpec::kNo});
  table.push_back(HelpOption(group));
}

}  // namespace

const OptionTable& OcrOptions() {
  static const OptionTable table = [] {
    OptionTable made;
    AddInputAndOutput(made);
    AddReading(made);
    AddModel(made);
    AddResources(made);
    AddLimits(made);
    AddReporting(made);
    return made;
  }();
  return table;
}

}  // namespace platen
