// platen draft-vocabulary: chooses the tokens that a draft layer is to choose among.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/commands/commands.h"
#include "model/engine/drafters/draft_vocabulary.h"
#include "model/families/snapshot.h"
#include "model/support/error.h"
#include "model/support/grouped.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostTextBytes = 256 << 20;

const OptionTable& VocabularyOptions() {
  static const OptionTable table = {
      {.name = "size",
       .type = OptionType::kInteger,
       .default_value = "16384",
       .value_name = "N",
       .group = "Options",
       .help = "Tokens of the vocabulary, at most the model's.",
       .min = 64,
       .max = 1 << 24},
      ModelOption("Options"),
      HelpOption("Options"),
  };
  return table;
}

// The files of the words, in a fixed order.
std::vector<fs::path> TextFiles(const Words& words) {
  std::vector<fs::path> files;
  for (const std::string& word : words) {
    if (!fs::is_directory(word)) {
      files.emplace_back(word);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(word)) {
      const std::string ending = entry.path().extension().string();
      const bool text = ending == ".txt" || ending == ".md";
      if (text && entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string ReadText(const fs::path& path) {
  std::error_code error;
  const uintmax_t bytes = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) throw Error(ErrorKind::kUsage, {path.string(), ""}, "cannot be read");
  if (bytes > kMostTextBytes) {
    throw Error(ErrorKind::kUsage, {path.string(), ""}, "is larger than 256 MiB; split it");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

// How often each id occurs.
std::vector<int64_t> Count(const std::vector<fs::path>& files, const Tokenizer& tokenizer,
                           int vocab_size) {
  std::vector<int64_t> counts(static_cast<size_t>(vocab_size), 0);
  for (const fs::path& path : files) {
    for (const TokenId id : tokenizer.Encode(ReadText(path))) ++counts[static_cast<size_t>(id)];
  }
  return counts;
}

void Report(const std::vector<int64_t>& counts, const std::vector<TokenId>& ids, size_t files) {
  int64_t all = 0, kept = 0, distinct = 0;
  for (const int64_t count : counts) {
    all += count;
    distinct += count > 0 ? 1 : 0;
  }
  for (const TokenId id : ids) kept += counts[static_cast<size_t>(id)];
  if (all == 0) return;
  Log(LogLevel::kInfo,
      fmt::format("{}: {} tokens, {} different; {} chosen, which are {:.2f} % of the text",
                  Counted(static_cast<int64_t>(files), "text"), Grouped(all), Grouped(distinct),
                  Grouped(static_cast<int64_t>(ids.size())),
                  100.0 * static_cast<double>(kept) / static_cast<double>(all)));
}

}  // namespace

const CommandSpec& DraftVocabularyCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen draft-vocabulary TEXT... [options] > FILE"},
      .description =
          "Chooses the tokens that occur most in texts like those you read, for "
          "--draft-vocabulary of platen ocr: the model's draft layer then scores these alone, "
          "which makes drafts cheaper. A token that is not among them is never drafted; it is "
          "decided by the model all the same, so the text does not change. TEXT: files, or "
          "folders with .txt and .md files. Without TEXT: the tokens that the tokenizer knows "
          "by itself and learnt first.\n\n"
          "  platen draft-vocabulary out/ --model glm-ocr > tokens.json\n"
          "  platen ocr scans -o out --model glm-ocr --draft-vocabulary tokens.json\n",
      .options = VocabularyOptions(),
      .argument = {.kind = Argument::Kind::kFiles}};
  return spec;
}

int RunDraftVocabularyCommand(const Words& words) {
  const auto settings = ParseCommand(DraftVocabularyCommand(), words);
  if (!settings) return kExitDone;
  const Snapshot snapshot = LoadSnapshot(LocateModel(settings->Text("model")));
  const int vocab_size = snapshot.architecture->text().vocab_size;
  const std::vector<fs::path> files = TextFiles(settings->positional());
  if (files.empty() && !settings->positional().empty()) {
    throw Error(ErrorKind::kUsage, {},
                "no .txt or .md file is there; name texts like your results");
  }
  const std::vector<int64_t> counts = Count(files, snapshot.tokenizer, vocab_size);
  const std::vector<TokenId> ids = ChooseDraftVocabulary(
      counts, snapshot.architecture->tokens().stop, static_cast<size_t>(settings->Integer("size")));
  Report(counts, ids, files.size());
  fmt::print("{}", DraftVocabularyText(ids, vocab_size));
  return kExitDone;
}

}  // namespace platen
