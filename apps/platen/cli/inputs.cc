#include "apps/platen/cli/inputs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "apps/platen/cli/log.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/support/mapped_file.h"
#include "stages/readers/file_kind.h"

namespace platen {
namespace {

constexpr size_t kMaxListBytes = size_t{1} << 30;

void AddListed(std::vector<ListedInput> names, InputSpec& spec) {
  for (ListedInput& name : names) spec.listed.push_back(std::move(name));
}

// A list file; its faults are the command line's.
std::vector<ListedInput> ReadListFile(const std::string& path) {
  return WithErrorKind(ErrorKind::kUsage, [&] {
    const std::string bytes = ReadSmallFile(path, kMaxListBytes);
    const FileKind kind = KindOf(std::string_view(bytes).substr(0, kFileHeadBytes), "");
    if (kind.cls != FileClass::kOther) {
      throw Error(ErrorKind::kUsage, {DisplayName(path), ""},
                  "is a document (" + kind.name + "), not a list of names; give it as an input");
    }
    return ParseNameList(bytes);
  });
}

std::unique_ptr<SpooledInput> AddStandardInput(InputSpec& spec) {
  std::string bytes = ReadStandardInput(kFileHeadBytes);
  if (bytes.empty()) throw Error(ErrorKind::kUsage, {"standard input", ""}, "is empty");
  if (KindOf(bytes, "").cls != FileClass::kOther) {
    auto file = std::make_unique<SpooledInput>(bytes);
    spec.standard_input = file->path();
    return file;
  }
  if (bytes.size() == kFileHeadBytes) bytes += ReadStandardInput(kMaxListBytes);
  AddListed(ParseNameList(bytes), spec);
  return nullptr;
}

// ".txt 2, .db 1, without extension 1": the most frequent first.
std::string CountsByExtension(const std::vector<std::string>& files) {
  constexpr size_t kShown = 6;
  std::map<std::string, int64_t> counts;
  for (const std::string& file : files) {
    std::string extension = std::filesystem::path(file).extension().string();
    for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    ++counts[extension.empty() ? "without extension" : DisplayName(extension)];
  }
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < std::min(kShown, sorted.size()); ++i) {
    text += (i > 0 ? ", " : "") + sorted[i].first + " " + std::to_string(sorted[i].second);
  }
  return sorted.size() > kShown ? text + ", ..." : text;
}

void WarnOfResults(const std::vector<std::string>& folders) {
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(kShown, folders.size()); ++i) {
    Log(LogLevel::kWarning,
        DisplayName(folders[i]) +
            ": not read, for it holds results of platen; name it as an input to "
            "read what is in it");
  }
  if (folders.size() <= kShown) return;
  Log(LogLevel::kWarning,
      "and " + Counted(folders.size() - kShown, "other folder") + " of results");
}

}  // namespace

bool IsStandardInput(const std::string& word) { return word == "-" || word == "/dev/stdin"; }

void RequireInputs(const Settings& settings, const std::string& command) {
  if (settings.positional().empty() && settings.Text("manifest").empty()) {
    throw Error(ErrorKind::kUsage, {},
                "no input given; name files, a folder or - (see platen " + command + " --help)");
  }
}

std::unique_ptr<SpooledInput> AddNamedInputs(const Settings& settings, InputSpec& spec) {
  std::unique_ptr<SpooledInput> spooled;
  bool read = false;
  for (const std::string& word : settings.positional()) {
    if (!IsStandardInput(word)) {
      spec.arguments.push_back(word);
    } else if (!read) {
      spooled = AddStandardInput(spec);
      read = true;
    }
  }
  const std::string& manifest = settings.Text("manifest");
  if (!manifest.empty()) AddListed(ReadListFile(manifest), spec);
  return spooled;
}

std::string WhatWasSkipped(const Discovery& discovery) {
  std::string text;
  if (!discovery.other_files.empty()) {
    text = Counted(discovery.other_files.size(), "other file") + " (" +
           CountsByExtension(discovery.other_files) + ")";
  }
  if (!discovery.hidden.empty()) {
    text += (text.empty() ? "" : ", ") + Counted(discovery.hidden.size(), "hidden file");
  }
  return text;
}

void RequireDocuments(const Discovery& discovery) {
  const auto missing = static_cast<size_t>(discovery.missing);
  if (discovery.documents.size() > missing || discovery.unwanted > 0) {
    WarnOfResults(discovery.results);
    return;
  }
  std::string reason = "there is no document to read";
  if (missing > 0) {
    reason += ": of " + Counted(missing, "listed file") + " none is there (" +
              DisplayName(discovery.documents.front().path) + ")";
  }
  const std::string skipped = WhatWasSkipped(discovery);
  if (!skipped.empty()) reason += "; found " + skipped;
  if (!discovery.results.empty()) {
    reason += "; " + DisplayName(discovery.results.front()) +
              " holds results of platen, and is read only if it is named itself";
  }
  throw Error(ErrorKind::kUsage, {}, reason + ". " + ReadableFormats());
}

}  // namespace platen
