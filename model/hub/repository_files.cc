#include "model/hub/repository_files.h"

#include <algorithm>
#include <array>

#include "model/hub/model_name.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/hash.h"
#include "model/support/json_fields.h"

namespace platen {
namespace {

constexpr size_t kMaxPathBytes = 1024;
constexpr size_t kMaxPartBytes = 200;
constexpr size_t kMaxTextBytes = 4096;

constexpr std::array<std::string_view, 12> kSnapshotFiles = {"config.json",
                                                             "generation_config.json",
                                                             "preprocessor_config.json",
                                                             "processor_config.json",
                                                             "tokenizer.json",
                                                             "tokenizer_config.json",
                                                             "special_tokens_map.json",
                                                             "chat_template.jinja",
                                                             "chat_template.json",
                                                             "model.safetensors.index.json",
                                                             "platen.json",
                                                             "LICENSE"};

bool IsPlainPart(std::string_view part) {
  return !part.empty() && part.size() <= kMaxPartBytes && part != "." && part != ".." &&
         std::none_of(part.begin(), part.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte < 0x20 || byte == 0x7f || c == '\\';
         });
}

HubFile ParseFile(const nlohmann::json& value, const std::string& source) {
  const JsonObject entry(value, source);
  HubFile file;
  file.path = entry.String("path", kMaxTextBytes);
  CheckHubPath(file.path, source);
  file.is_large = entry.Has("lfs");
  const JsonObject content = file.is_large ? entry.Object("lfs") : entry;
  file.size = content.Int64("size", 0, kMaxHubFileBytes);
  file.digest = content.String("oid", kMaxTextBytes);
  if (!IsHex(file.digest, file.is_large ? 64 : 40)) {
    content.Fail("oid", "is not a checksum (of " + file.path + ")");
  }
  return file;
}

}  // namespace

void CheckHubPath(const std::string& path, const std::string& source) {
  bool plain = path.size() <= kMaxPathBytes;
  for (size_t start = 0; plain && start <= path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    plain = IsPlainPart(std::string_view(path).substr(start, end - start));
    start = end + 1;
  }
  if (plain) return;
  throw Error(ErrorKind::kModel, {.file = source, .field = "path"},
              "\"" + DisplayName(path.substr(0, 200)) +
                  "\" is not a plain path below the repository; nothing is downloaded");
}

std::vector<HubFile> ParseTreePage(std::string_view json, const std::string& source) {
  const nlohmann::json page = ParseJson(json, source);
  if (!page.is_array()) {
    throw Error(ErrorKind::kModel, {.file = source, .field = {}}, "is not a list of files");
  }
  std::vector<HubFile> files;
  for (const nlohmann::json& value : page) {
    const std::string type = JsonObject(value, source).String("type", kMaxTextBytes);
    if (type == "file") files.push_back(ParseFile(value, source));
    if (files.size() > kMaxHubFiles) {
      throw Error(ErrorKind::kModel, {.file = source, .field = {}}, "lists too many files");
    }
  }
  return files;
}

std::string ParseCommit(std::string_view json, const std::string& source) {
  const nlohmann::json value = ParseJson(json, source);
  const JsonObject answer(value, source);
  std::string commit = answer.String("sha", kMaxTextBytes);
  if (!IsCommit(commit)) answer.Fail("sha", "is not the 40 hexadecimal digits of a commit");
  return commit;
}

// <https://…?cursor=…>; rel="next", <https://…>; rel="last"
std::optional<std::string> NextPage(std::string_view link_header) {
  while (true) {
    const size_t open = link_header.find('<');
    const size_t close = link_header.find('>', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
    const std::string_view url = link_header.substr(open + 1, close - open - 1);
    const size_t next = std::min(link_header.find('<', close), link_header.size());
    const std::string_view parameters = link_header.substr(close, next - close);
    if (parameters.find("rel=\"next\"") != std::string_view::npos) return std::string(url);
    link_header = link_header.substr(next);
  }
}

bool IsSnapshotFile(std::string_view path) {
  if (path.find('/') != std::string_view::npos) return false;
  return path.ends_with(".safetensors") ||
         std::find(kSnapshotFiles.begin(), kSnapshotFiles.end(), path) != kSnapshotFiles.end();
}

}  // namespace platen
