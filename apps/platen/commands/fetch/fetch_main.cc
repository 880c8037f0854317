// platen-fetch: downloads a model from a Hugging Face hub. The only program here that goes to the
// network, and one of its own so that no other has the code for it.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/interrupt.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/option_values.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/fetch/download.h"
#include "apps/platen/commands/fetch/fetch_progress.h"
#include "model/hub/hub_cache.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"

namespace platen {
namespace {

constexpr const char* kPublicHub = "https://huggingface.co";
constexpr int kStallSeconds = 30;
constexpr int kMaxStallSeconds = 3600;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[noreturn]] void FailEnvironment(const char* variable, const std::string& reason) {
  throw Error(ErrorKind::kEnvironment, {.file = {}, .field = variable}, reason);
}

void RefuseOffline() {
  std::string value = Environment("HF_HUB_OFFLINE");
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (value == "1" || value == "ON" || value == "YES" || value == "TRUE") {
    FailEnvironment("HF_HUB_OFFLINE", "is set: platen fetch does not go to the network");
  }
}

std::string Token() {
  std::string token = Environment("HF_TOKEN");
  if (std::any_of(token.begin(), token.end(), [](char c) { return c <= ' ' || c == 0x7f; })) {
    FailEnvironment("HF_TOKEN", "has characters that no token has (a line break, a space?)");
  }
  return token;
}

std::chrono::seconds StallTime() {
  const std::string value = Environment("HF_HUB_DOWNLOAD_TIMEOUT");
  if (value.empty()) return std::chrono::seconds(kStallSeconds);
  const bool number =
      value.size() < 6 && value.find_first_not_of("0123456789") == std::string::npos;
  const int seconds = number ? std::stoi(value) : 0;
  if (seconds < 1 || seconds > kMaxStallSeconds) {
    FailEnvironment("HF_HUB_DOWNLOAD_TIMEOUT", "must be a number of seconds, 1 to 3600");
  }
  return std::chrono::seconds(seconds);
}

ModelName ModelFrom(const Settings& settings) {
  if (settings.positional().size() != 1) {
    ThrowUsage("fetch", "takes one OWNER/NAME, e.g. zai-org/GLM-OCR");
  }
  const std::string& text = settings.positional()[0];
  auto model = ParseModelName(text);
  if (!model) ThrowUsage(DisplayName(text), "is no model's name: OWNER/NAME, e.g. zai-org/GLM-OCR");
  const std::string& revision = settings.Text("revision");
  if (revision.empty()) return *model;
  if (text.find('@') != std::string::npos) ThrowUsage("--revision", "is given twice, also with @");
  if (!IsRevision(revision)) ThrowUsage("--revision", "is no branch, tag or commit");
  model->revision = revision;
  return *model;
}

std::vector<HubFile> Choose(std::vector<HubFile> files, bool all, const ModelName& model) {
  const auto has = [&](const auto& is) { return std::any_of(files.begin(), files.end(), is); };
  if (!all) {
    const bool gguf = has([](const HubFile& f) { return f.path.ends_with(".gguf"); });
    std::erase_if(files, [](const HubFile& file) { return !IsSnapshotFile(file.path); });
    const bool usable = has([](const HubFile& f) { return f.path == "config.json"; }) &&
                        has([](const HubFile& f) { return f.path.ends_with(".safetensors"); });
    if (!usable) {
      throw Error(ErrorKind::kModel, {.file = model.Text(), .field = {}},
                  std::string("has no config.json with .safetensors files, which platen reads") +
                      (gguf ? "; GGUF is not read: name the original model" : "") +
                      "; --all downloads it all the same");
    }
  }
  return files;
}

struct Totals {
  int64_t bytes = 0;
  int64_t there = 0;  // of these
  size_t files = 0;   // to download
};

Totals Count(const std::vector<HubFile>& files, const CacheWriter& cache) {
  Totals totals;
  for (const HubFile& file : files) {
    const bool there = cache.Has(file);
    totals.bytes += file.size;  // at most 10,000 times 2^44
    totals.there += there ? file.size : std::min(cache.PartialBytes(file), file.size);
    totals.files += !there;
  }
  return totals;
}

void CheckSpace(const Totals& totals, const CacheWriter& cache) {
  const int64_t needed = totals.bytes - totals.there, free = cache.FreeBytes();
  if (needed <= free) return;
  throw Error(ErrorKind::kEnvironment, {.file = cache.blobs().path(), .field = {}},
              "no room: " + DecimalBytes(needed) + " are needed, " + DecimalBytes(free) +
                  " are free; HF_HUB_CACHE names another place");
}

void Fetch(const ModelName& model, bool all, bool quiet) {
  HttpClient http(StallTime());
  const std::string endpoint = Environment("HF_ENDPOINT");
  HubClient hub(endpoint.empty() ? kPublicHub : endpoint, Token(), http,
                [](const std::string& text) { Log(LogLevel::kWarning, text); });
  const std::string commit = hub.CommitOf(model);
  const std::vector<HubFile> files = Choose(hub.FilesOf(model, commit), all, model);
  const CacheWriter cache(HubCacheFolder(), model);
  const FileLock lock(cache.locks(), "platen.lock", [&] {
    Log(LogLevel::kInfo, "another platen fetch downloads this model; waiting for it");
  });
  const Totals totals = Count(files, cache);
  CheckSpace(totals, cache);
  Log(LogLevel::kInfo, fmt::format("{}, commit {}: {}, {}; {} to download", model.Text(), commit,
                                   Counted(files.size(), "file"), DecimalBytes(totals.bytes),
                                   DecimalBytes(totals.bytes - totals.there)));
  FetchProgress progress(totals.bytes, totals.there, quiet);
  for (const HubFile& file : files) {
    if (!cache.Has(file)) {
      progress.Begin(file.path, std::min(cache.PartialBytes(file), file.size));
      Download({hub, model, commit, [&](int64_t bytes) { progress.Show(bytes); }}, cache, file);
    }
    cache.Link(commit, file);
  }
  progress.Finish();
  // A commit, or the beginning of one, is no ref.
  if (!commit.starts_with(model.revision)) cache.WriteRef(model.revision, commit);
  fmt::print(
      "model     {}, commit {}\nfolder    {}\nfiles     {}, {}; {} downloaded now, checksums "
      "compared\nuse       platen ocr scans --model {} -o text\n",
      model.Text(), commit, DisplayName(cache.SnapshotPath(commit)), Counted(files.size(), "file"),
      DecimalBytes(totals.bytes), totals.files, model.Text());
}

int RunFetch(const std::vector<std::string>& words) {
  const auto settings = ParseCommand(FetchCommand(), words);
  if (!settings) return kExitDone;
  const ModelName model = ModelFrom(*settings);
  RefuseOffline();
  CatchInterrupts();
  try {
    // Whatever fails here is no page of the user's.
    WithErrorKind(ErrorKind::kEnvironment,
                  [&] { Fetch(model, settings->Flag("all"), settings->Flag("quiet")); });
    return kExitDone;
  } catch (const FetchInterrupted&) {
    Log(LogLevel::kWarning, "interrupted; the same command goes on from what is there");
    return kExitInterrupted;
  }
}

}  // namespace
}  // namespace platen

int main(int argc, char** argv) {
  return platen::RunReporting([&] { return platen::RunFetch({argv + 1, argv + argc}); });
}
