#include "apps/platen/commands/ocr/ocr_options.h"

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/commands/ocr/limit_options.h"
#include "model/engine/acceptance.h"
#include "stages/formats/document_writer.h"

namespace platen {
namespace {

using Type = OptionType;

void AddInputAndOutput(OptionTable& table) {
  const std::string group = "Input and output";
  table.push_back({.name = "inputs",
                   .type = Type::kTextList,
                   .group = group,
                   .positional = true,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "output",
                   .value_name = "DIR",
                   .group = group,
                   .help = "Folder for the results; created if missing. Without it, or with -, the "
                           "text of a document is printed.",
                   .short_name = 'o',
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "format",
                   .type = Type::kChoiceList,
                   .default_value = "txt,md,json",
                   .value_name = "LIST",
                   .group = group,
                   .help = "Outputs to write for each document, separated by commas. hocr, tsv, "
                           "alto and page have the text with its places on the image; alto and "
                           "page are one file for each page. html is a page to check by eye, pdf "
                           "the searchable scan.",
                   .choices = KnownFormats(),
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "keep",
                   .type = Type::kChoiceList,
                   .default_value = "footnotes",
                   .value_name = "LIST",
                   .group = group,
                   .help = "What stands in .md beside the text of a page, separated by commas. "
                           ".txt and .json have all of it.",
                   .choices = {"headers", "footers", "page-numbers", "footnotes", "none"},
                   .changes_results = OptionSpec::kRendering});
  table.push_back({.name = "reflow",
                   .type = Type::kFlag,
                   .default_value = "false",
                   .group = group,
                   .help = "In .txt too, a paragraph is one line and hyphens at line ends are "
                           "joined, as in .md.",
                   .changes_results = OptionSpec::kRendering});
  table.push_back({.name = "images",
                   .value_name = "DIR",
                   .group = group,
                   .help = "Write figures and charts as PNG files below OUT/DIR, a folder for each "
                           "document, and show them in .md. Pages that were read without it are "
                           "read again.",
                   .changes_results = 19});
  table.push_back({.name = "manifest",
                   .value_name = "FILE",
                   .group = group,
                   .help = "Also read the inputs named in FILE, one per line, or separated by NUL. "
                           "The input - reads such a list, or an image or PDF, from standard "
                           "input.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "input-root",
                   .value_name = "DIR",
                   .group = group,
                   .help = "Outputs mirror the inputs' paths relative to DIR.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "pages",
                   .value_name = "RANGES",
                   .group = group,
                   .help =
                       "Only these pages of each document, e.g. 1-5,9 or 3-. Runs into the same "
                       "folder add up.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "force",
                   .type = Type::kFlag,
                   .default_value = "false",
                   .group = group,
                   .help = "Read everything again. Without it, documents that an earlier run into "
                           "the same folder has finished are skipped, and a run that was cut off "
                           "continues.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "verify-inputs",
                   .type = Type::kFlag,
                   .default_value = "false",
                   .group = group,
                   .help =
                       "Read every input to see whether it has changed. Without it, a file whose "
                       "size, times and inode are those of the earlier run is taken for the "
                       "same.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "dry-run",
                   .type = Type::kFlag,
                   .default_value = "false",
                   .group = group,
                   .help = "Say what would be read, what is finished, and how long it will take "
                           "at the rate of the last run into the folder; read and write nothing.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "shard",
                   .value_name = "K/N",
                   .group = group,
                   .help =
                       "Read only part K of N of the documents: for N runs, on as many machines, "
                       "into one folder. K is from 1 to N. auto: as the Slurm array says that "
                       "started the run. auto/N: part of N by the task's number in a Slurm array "
                       "1-N, or by the index of a Kubernetes Job.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "fail-on",
                   .type = Type::kChoice,
                   .default_value = "failures",
                   .value_name = "WHAT",
                   .group = group,
                   .help = "What ends the run with exit code 1: pages or documents that failed, or "
                           "doubtful pages too (no text found though there is ink, low confidence, "
                           "a script the model does not know).",
                   .choices = {"failures", "doubtful"},
                   .changes_results = OptionSpec::kNo});
}

void AddReading(OptionTable& table) {
  const std::string group = "Pages";
  table.push_back({.name = "dpi",
                   .type = Type::kInteger,
                   .default_value = "200",
                   .value_name = "DPI|auto",
                   .group = group,
                   .help = "Resolution at which PDF pages are rendered. auto: a page that is a "
                           "scan at the scan's own, from 150 to 400; any other at 200.",
                   .min = 36,
                   .max = 1200,
                   .word = "auto",
                   .changes_results = 9,
                   .pdf_only = true});
  table.push_back({.name = "text-layer",
                   .type = Type::kChoice,
                   .default_value = "auto",
                   .value_name = "WHAT",
                   .group = group,
                   .help =
                       "The text that PDF pages have themselves. auto: it is taken, and the page "
                       "is not read, where it is sound, for all that is on the page, and no text "
                       "put over a scan. use: wherever there is any. ignore: pages are read.",
                   .choices = {"auto", "use", "ignore"},
                   .changes_results = 20,
                   .value_before = "ignore",
                   .pdf_only = true});
  table.push_back({.name = "password-file",
                   .value_name = "FILE",
                   .group = group,
                   .help = "Passwords for encrypted PDF files, one a line; each is tried. While a "
                           "page is rendered, other users of the machine can see it.",
                   .changes_results = OptionSpec::kNo,
                   .pdf_only = true});
  table.push_back({.name = "max-pixels",
                   .type = Type::kInteger,
                   .default_value = "200000000",
                   .value_name = "N",
                   .group = group,
                   .help = "Pages with more pixels fail instead of filling the memory.",
                   .min = 1,
                   .max = 4e9,
                   .changes_results = 10});
  table.push_back({.name = "composite-alpha",
                   .type = Type::kFlag,
                   .default_value = "false",
                   .group = group,
                   .help = "Put images with transparency on white. Without it, transparency is "
                           "ignored.",
                   .changes_results = 11});
  table.push_back({.name = "granularity",
                   .type = Type::kChoice,
                   .default_value = "auto",
                   .value_name = "WHAT",
                   .group = group,
                   .help = "What is read on its own; auto is what the model was trained for.",
                   .choices = {"auto", "line", "block", "page"},
                   .changes_results = 3});
  table.push_back({.name = "allow-untrained",
                   .type = Type::kFlag,
                   .default_value = "false",
                   .group = group,
                   .help = "Accept a --granularity that the model was not trained for.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "text-height",
                   .type = Type::kNumber,
                   .default_value = "0",
                   .value_name = "PX",
                   .group = group,
                   .help = "Scale blocks and pages down so that small letters are this high; "
                           "bounds the cost of 300 and 600 dpi scans. 0 is off.",
                   .min = 0,
                   .max = 1000,
                   .changes_results = 6});
}

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
                   .default_value = "2400",
                   .value_name = "N",
                   .group = group,
                   .help = "Most image patches encoded together, unless one region has more.",
                   .min = 1,
                   .max = 1e6,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "batch-rows",
                   .type = Type::kInteger,
                   .default_value = "2400",
                   .value_name = "N",
                   .group = group,
                   .help = "Most prompt tokens prefilled together, unless one region has more.",
                   .min = 1,
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
