#include "apps/platen/commands/ocr/document_options.h"

#include "stages/formats/document_writer.h"

namespace platen {

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

}  // namespace platen
