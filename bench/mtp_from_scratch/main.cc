// Multi-token prediction from scratch: the experiment of docs/MTP.md.
//
//   mtp_from_scratch                                   the table, with expected figures beside it
//   mtp_from_scratch --data text --text FILE...        learning curves and guesses of a text
//   mtp_from_scratch --data random,table,text --text docs/*.md --json FILE --images docs/images
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <iostream>
#include <optional>
#include <sstream>

#include "bench/mtp_from_scratch/plots.h"
#include "bench/mtp_from_scratch/report.h"
#include "bench/mtp_from_scratch/results_json.h"
#include "model/support/atomic_file.h"
#include "model/support/error.h"
#include "model/support/mapped_file.h"
#include "pipeline/hardware.h"

namespace platen::bench {
namespace {

namespace po = boost::program_options;

constexpr size_t kMostBytes = 64 << 20U;  // of a text

struct Options {
  TrainingOptions made_up, text;
  int repeats = 5;
  std::string data = "random,table";
  std::vector<std::string> files;
  std::string json, images;
};

po::options_description Describe(Options& o) {
  const auto value = [](auto& target) { return po::value(&target)->default_value(target); };
  o.text.sizes = {.vocabulary = 0, .length = 32, .width = 64, .inner = 128, .depths = 3};
  o.text.steps = 2000;
  po::options_description all("mtp_from_scratch: guesses of several tokens ahead, from scratch");
  po::options_description_easy_init add = all.add_options();
  add("help", "This text.");
  add("data", value(o.data), "What to learn from: any of random, table, text.");
  add("text", po::value(&o.files)->multitoken(), "Files, read one after another.");
  add("repeats", value(o.repeats), "Of each row of the table, 1 to 10.");
  add("seed", value(o.made_up.seed), "Of data and starting weights.");
  add("depths", value(o.made_up.sizes.depths), "Guesses of a place.");
  add("batch", value(o.made_up.batch), "Sequences per step.");
  add("rate", po::value(&o.made_up.rate)->default_value(o.made_up.rate, "0.003"),
      "Learning rate; a sixth of it in the last third.");
  add("test-sequences", value(o.made_up.test_sequences), "What is tested on.");
  add("steps", value(o.made_up.steps), "Of each run on made-up tokens.");
  add("vocabulary", value(o.made_up.sizes.vocabulary), "Different made-up tokens.");
  add("length", value(o.made_up.sizes.length), "Tokens of a made-up sequence.");
  add("width", value(o.made_up.sizes.width), "Of the network for these.");
  add("inner", value(o.made_up.sizes.inner), "Of its feed-forward part.");
  add("text-steps", value(o.text.steps), "Of each run on a text.");
  add("text-length", value(o.text.sizes.length), "Bytes of a piece of it.");
  add("text-width", value(o.text.sizes.width), "Of the network for it.");
  add("text-inner", value(o.text.sizes.inner), "Of its feed-forward part.");
  add("json", value(o.json), "File for all figures.");
  add("images", value(o.images), "Folder for plots, SVG.");
  return all;
}

[[noreturn]] void Refuse(const std::string& option, const std::string& reason) {
  throw Error(ErrorKind::kUsage, {.file = "", .field = "--" + option}, reason);
}

void Check(const TrainingOptions& options, const std::string& prefix) {
  const MtpSizes& sizes = options.sizes;
  const auto in_range = [](const std::string& name, int64_t value, int64_t low, int64_t high) {
    if (value < low || value > high) Refuse(name, fmt::format("must be {} to {}", low, high));
  };
  in_range("depths", sizes.depths, 1, 64);
  in_range("batch", options.batch, 1, 4096);
  in_range("test-sequences", options.test_sequences, 1, 100000);
  in_range(prefix + "steps", options.steps, 1, 10000000);
  in_range(prefix + "length", sizes.length, sizes.depths + 2, 4096);
  in_range(prefix + "width", sizes.width, 1, 4096);
  in_range(prefix + "inner", sizes.inner, 1, 16384);
  if (!(options.rate > 0 && options.rate < 1)) Refuse("rate", "must be between 0 and 1");
}

// Nothing after --help, which is answered.
std::optional<Options> Parse(int argc, char** argv) {
  Options options;
  const po::options_description all = Describe(options);
  try {
    po::variables_map given;
    constexpr int kWholeNames =
        po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::parse_command_line(argc, argv, all, kWholeNames), given);
    if (given.count("help") > 0) {
      std::cout << all;
      return std::nullopt;
    }
    po::notify(given);
  } catch (const po::error& error) {
    throw Error(ErrorKind::kUsage, {}, error.what());
  }
  options.text.seed = options.made_up.seed;
  options.text.sizes.depths = options.made_up.sizes.depths;
  options.text.batch = options.made_up.batch;
  options.text.rate = options.made_up.rate;
  options.text.test_sequences = options.made_up.test_sequences;
  Check(options.made_up, "");
  Check(options.text, "text-");
  const int64_t vocabulary = options.made_up.sizes.vocabulary;
  if (vocabulary < 2 || vocabulary > 4096) Refuse("vocabulary", "must be 2 to 4096");
  if (options.repeats < 1 || options.repeats > 10) Refuse("repeats", "must be 1 to 10");
  return options;
}

bool AtDefaults(const TrainingOptions& options) {
  const TrainingOptions defaults;
  const MtpSizes &a = options.sizes, &b = defaults.sizes;
  return a.vocabulary == b.vocabulary && a.length == b.length && a.width == b.width &&
         a.inner == b.inner && a.depths == b.depths && options.steps == defaults.steps &&
         options.batch == defaults.batch && options.rate == defaults.rate &&
         options.seed == defaults.seed && options.test_sequences == defaults.test_sequences;
}

void Say(const std::string& what) { std::cerr << what << "\n"; }

void WriteImage(const Options& options, const std::string& name, const std::string& svg) {
  if (options.images.empty()) return;
  ReplaceFile(options.images + "/" + name, svg, Folder::Missing::kCreate);
}

nlohmann::ordered_json RunMadeUp(const Options& options, const std::vector<MadeUp>& data) {
  const TableResult result = RunTable(options.made_up, data, options.repeats, Say);
  std::cout << TableText(result, AtDefaults(options.made_up));
  if (!result.after.empty()) {
    std::cout << "\nOne sequence of the table, by the chain (no: wrong; the label's probability)\n"
              << GuessesText(result.sequence, result.before, result.after, nullptr);
  }
  WriteImage(options, "mtp-table.svg",
             DrawTable(result, 1.0 / static_cast<double>(options.made_up.sizes.vocabulary)));
  nlohmann::ordered_json json = ToJson(result);
  json["options"] = ToJson(options.made_up);
  json["options"]["vocabulary"] = options.made_up.sizes.vocabulary;
  return json;
}

nlohmann::ordered_json RunFiles(const Options& options) {
  if (options.files.empty()) Refuse("text", "names no file");
  std::string text;
  for (const std::string& file : options.files) text += ReadSmallFile(file, kMostBytes);
  const TextResult result = RunText(options.text, text, Say);
  std::cout << "\nText: " << TextText(result)
            << "\nOne piece of it, by the chain with equal weights\n"
            << GuessesText(result.piece, result.before, result.after, &result.alphabet);
  WriteImage(options, "mtp-curves.svg", DrawCurves(result));
  WriteImage(options, "mtp-weights.svg", DrawWeights(result));
  WriteImage(options, "mtp-guesses.svg", DrawGuesses(result));
  nlohmann::ordered_json json = ToJson(result);
  json["files"] = options.files;
  json["options"] = ToJson(options.text);
  return json;
}

int Run(const Options& options) {
  std::vector<MadeUp> made_up;
  bool text = false;
  std::stringstream words(options.data);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "text") {
      text = true;
    } else if (word == "random" || word == "table") {
      made_up.push_back(word == "random" ? MadeUp::kRandom : MadeUp::kTable);
    } else {
      Refuse("data", "knows random, table and text, not \"" + word + "\"");
    }
  }
  nlohmann::ordered_json json = {{"program", "mtp_from_scratch"},
                                 {"cpu", CpuName()},
                                 {"products", std::string("OpenBLAS ") + BlasCore()}};
  if (!made_up.empty()) json["made_up"] = RunMadeUp(options, made_up);
  if (text) json["text"] = RunFiles(options);
  if (!options.json.empty()) {
    ReplaceFile(options.json, json.dump() + "\n", Folder::Missing::kCreate);
  }
  return 0;
}

}  // namespace
}  // namespace platen::bench

int main(int argc, char** argv) {
  try {
    const auto options = platen::bench::Parse(argc, argv);
    return options ? platen::bench::Run(*options) : 0;
  } catch (const platen::Error& error) {
    std::cerr << "mtp_from_scratch: " << error.what() << "\n";
    return error.kind() == platen::ErrorKind::kUsage ? 2 : 3;
  }
}
