// Options and facts that the kinds of `platen bench` share.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/platen/cli/option_table.h"
#include "apps/platen/cli/settings.h"
#include "apps/platen/commands/commands.h"
#include "bench/peaks.h"
#include "bench/spread.h"
#include "model/families/model.h"

namespace platen {

// --json, --repetitions, --threads, --isa and --help, after the options of the kind.
struct BenchDefaults {
  int repetitions = 5;
  int most_repetitions = 1000;
  std::string threads_help;
};
OptionTable WithBenchOptions(OptionTable own, const BenchDefaults& defaults);
// --model and what LoadBenchModel reads, before the options of the kind.
OptionTable WithModelOptions(const OptionTable& own);

// Loads the snapshot of --model, else the bundled one. Call LimitThreads first.
std::unique_ptr<Model> LoadBenchModel(const Settings& settings);

// CPU, kernels, program version; with a model also its folder and precision.
nlohmann::ordered_json BenchConditions(const Settings& settings, const Model* model);

nlohmann::ordered_json ToJson(const bench::Spread& spread);
nlohmann::ordered_json ToJson(const bench::Peaks& peaks);
// "tdpbsud 5400 GOPS, vfmadd231ps 512 160 GFLOPS, memory 15.1 GB/s"
std::string PeaksText(const bench::Peaks& peaks);

// The kinds: what each takes, and its work with the words after its name.
const CommandSpec& BenchKernelsCommand();
const CommandSpec& BenchModelCommand();
const CommandSpec& BenchDecodeCommand();
const CommandSpec& BenchPagesCommand();
const CommandSpec& BenchLayoutCommand();
int RunBenchKernels(const Words& words);
int RunBenchModel(const Words& words);
int RunBenchDecode(const Words& words);
int RunBenchPages(const Words& words);
int RunBenchLayout(const Words& words);

}  // namespace platen
