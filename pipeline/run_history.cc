#include "pipeline/run_history.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "model/support/atomic_file.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "pipeline/own_folder.h"
#include "stages/write_outputs.h"

namespace platen {
namespace {

constexpr char kRunsName[] = "runs";
constexpr std::string_view kEnding = ".run.jsonl", kDocumentsEnding = ".documents.jsonl";
constexpr off_t kMostBytes = 64 << 20;

const char* StateOf(const FinishedDocument& document) {
  if (document.kept_earlier) return "kept";
  return document.failed > 0 ? "failed" : "read";
}

// File systems of other machines have no colons in names.
std::string WithoutColons(std::string time) {
  std::replace(time.begin(), time.end(), ':', '-');
  return time;
}

// "...-7.run.jsonl" -> 7.
std::optional<int64_t> RunOf(std::string_view name) {
  if (!name.ends_with(kEnding)) return std::nullopt;
  name.remove_suffix(kEnding.size());
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  int64_t run = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + dash + 1, end, run);
  if (error != std::errc() || stop != end) return std::nullopt;
  return run;
}

std::optional<std::string> ContentOf(const Folder& folder, const std::string& name) {
  try {
    const UniqueFd file = folder.OpenFile(name, O_RDONLY);
    struct stat facts = {};
    if (!file || ::fstat(file.get(), &facts) != 0 || facts.st_size > kMostBytes) {
      return std::nullopt;
    }
    std::string text(static_cast<size_t>(facts.st_size), '\0');
    const ssize_t bytes = ::pread(file.get(), text.data(), text.size(), 0);
    if (bytes != facts.st_size) return std::nullopt;
    return text;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

RunHistory::RunHistory(const Folder& state, const Folder& temporary, const std::string& started,
                       int64_t run)
    : folder_(OnOwnFolder([&] { return state.Below(kRunsName, Folder::Missing::kCreate); })),
      temporary_(temporary),
      name_(WithoutColons(started) + "-" + std::to_string(run)) {
  documents_ = OnOwnFolder(
      [&] { return OpenAnew(folder_, name_ + std::string(kDocumentsEnding), O_WRONLY); });
}

void RunHistory::AddDocument(const FinishedDocument& document, double at_s) {
  const nlohmann::ordered_json line = {{"input", DisplayName(document.input.shown_name())},
                                       {"output", DisplayName(document.input.output)},
                                       {"state", StateOf(document)},
                                       {"pages", document.pages.size()},
                                       {"failed", document.failed},
                                       {"at_s", std::round(at_s * 10) / 10}};
  OnOwnFolder([&] {
    WriteAll(documents_.get(), line.dump() + "\n",
             folder_.PathOf(name_ + std::string(kDocumentsEnding)));
  });
}

void RunHistory::Finish(const std::string& run_json) {
  OnOwnFolder([&] {
    WriteFileAtomically(folder_, name_ + std::string(kEnding), run_json + "\n", temporary_);
  });
}

std::vector<PastRun> PastRuns(const Folder& state, size_t most) {
  return OnOwnFolder([&] {
    std::vector<PastRun> runs;
    if (!state.Look(kRunsName)) return runs;
    const Folder folder = state.Below(kRunsName, Folder::Missing::kFail);
    std::vector<std::pair<int64_t, std::string>> names;
    for (std::string& name : folder.Names()) {
      if (const auto run = RunOf(name)) names.emplace_back(*run, std::move(name));
    }
    std::sort(names.rbegin(), names.rend());
    for (size_t i = 0; i < names.size() && runs.size() < most; ++i) {
      std::string name = names[i].second;
      if (auto json = ContentOf(folder, name)) {
        name.resize(name.size() - kEnding.size());
        runs.push_back({std::move(name), names[i].first, std::move(*json)});
      }
    }
    return runs;
  });
}

}  // namespace platen
