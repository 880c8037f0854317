#include "pipeline/ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "model/support/error.h"
#include "model/support/hash.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

[[noreturn]] void ThrowDisk(const std::string& path, const std::string& action, int code) {
  throw Error(ErrorKind::kEnvironment, {DisplayName(path), ""},
              "cannot " + action + ": " + std::generic_category().message(code));
}

int OpenFile(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0) ThrowDisk(path, "open", errno);
  return fd;
}

}  // namespace

Ledger::Ledger(const std::string& output_dir, ResultIdentity identity)
    : output_dir_(output_dir), state_dir_(output_dir + "/.platen"), identity_(std::move(identity)) {
  try {
    CreateFolders(state_dir_ + "/pages");
    CreateFolders(temporary_dir());
  } catch (const Error& e) {  // no output folder, no run: whatever the reason
    throw Error(ErrorKind::kEnvironment, e.location(), e.reason());
  }
  TakeLock();
  EmptyTemporaryFolder();
  Load();
  fd_ = OpenFile(state_dir_ + "/ledger.jsonl", O_RDWR | O_CREAT | O_APPEND);
  char last = '\n';
  const off_t size = ::lseek(fd_, 0, SEEK_END);
  if (size > 0 && ::pread(fd_, &last, 1, size - 1) == 1 && last != '\n') AppendLine("");
}

Ledger::~Ledger() {
  if (fd_ >= 0) ::close(fd_);
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

void Ledger::TakeLock() {
  lock_fd_ = OpenFile(state_dir_ + "/lock", O_RDWR | O_CREAT);
  if (::flock(lock_fd_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) return;  // a file system without locks: the user's care
  throw Error(ErrorKind::kEnvironment, {DisplayName(output_dir_), ""},
              "another platen run is writing to this folder");
}

void Ledger::EmptyTemporaryFolder() const {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(temporary_dir(), ignored)) {
    fs::remove_all(entry.path(), ignored);
  }
}

void Ledger::Load() {
  std::ifstream in(state_dir_ + "/ledger.jsonl", std::ios::binary);
  for (std::string line; std::getline(in, line);) LoadLine(line);
}

// Lines that are no records (cut short by a crash) say nothing: their documents are done again.
void Ledger::LoadLine(const std::string& line) {
  if (line.find("\"document\"") == std::string::npos) return;
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("record", "") != "document") return;
  try {
    DocumentRecord record;
    record.pages = json.at("pages").get<int>();
    record.failed = json.at("failed").get<int>();
    record.output_bytes = json.at("outputs").get<std::map<std::string, int64_t>>();
    documents_[json.at("key").get<std::string>()] = std::move(record);
  } catch (const nlohmann::json::exception&) {
    return;
  }
}

std::string Ledger::KeyOf(const InputDocument& input) const {
  struct stat info = {};
  if (::stat(input.path.c_str(), &info) != 0) {
    throw Error(ErrorKind::kInput, {DisplayName(input.path), ""},
                std::generic_category().message(errno));
  }
  Hasher hasher;
  hasher.Add(input.output);
  hasher.Add(std::to_string(info.st_size));
  hasher.Add(std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec));
  hasher.Add(identity_.fingerprint);
  return hasher.Hex();
}

bool Ledger::IsFinished(const std::string& key, const InputDocument& input) const {
  const auto found = documents_.find(key);
  if (found == documents_.end() || found->second.failed > 0) return false;
  return std::all_of(identity_.formats.begin(), identity_.formats.end(),
      [&](const std::string& format) {
        const auto bytes = found->second.output_bytes.find(format);
        if (bytes == found->second.output_bytes.end()) return false;
        struct stat info = {};
        const std::string path = output_dir_ + "/" + input.output + "." + format;
        return ::stat(path.c_str(), &info) == 0 && info.st_size == bytes->second;
      });
}

int Ledger::PagesOf(const std::string& key) const {
  const auto found = documents_.find(key);
  return found == documents_.end() ? 0 : found->second.pages;
}

std::unique_ptr<PageFile> Ledger::OpenPages(const std::string& key, bool forget) const {
  auto pages = std::make_unique<PageFile>(state_dir_ + "/pages/" + key + ".jsonl");
  if (forget) pages->Remove();
  return pages;
}

void Ledger::AppendLine(const std::string& line) {
  std::string bytes = line + "\n";
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) ThrowDisk(state_dir_ + "/ledger.jsonl", "write", errno);
    done += static_cast<size_t>(n);
  }
}

void Ledger::RecordRun(const std::string& version, const std::string& model_id) {
  AppendLine(Json{{"record", "run"},
                  {"version", version},
                  {"model", model_id},
                  {"fingerprint", identity_.fingerprint},
                  {"formats", identity_.formats}}
                 .dump());
}

void Ledger::RecordPage(const std::string& key, const InputDocument& input,
                        const PageResult& page) {
  Json json{{"record", "page"},
            {"key", key},
            {"name", DisplayName(input.path)},
            {"page", page.page},
            {"status", IsComplete(page) ? "ok" : "failed"},
            {"regions", page.regions.size()}};
  if (!page.error.empty()) json["error"] = ValidUtf8(page.error);
  AppendLine(json.dump());
}

void Ledger::RecordDocument(const std::string& key, const InputDocument& input, int pages,
                            int failed, const std::vector<WrittenFile>& outputs) {
  Json sizes = Json::object();
  for (size_t i = 0; i < outputs.size(); ++i) sizes[identity_.formats[i]] = outputs[i].bytes;
  AppendLine(Json{{"record", "document"},
                  {"key", key},
                  {"name", DisplayName(input.path)},
                  {"pages", pages},
                  {"failed", failed},
                  {"outputs", sizes}}
                 .dump());
  if (::fdatasync(fd_) != 0 && errno != EINVAL) {
    ThrowDisk(state_dir_ + "/ledger.jsonl", "sync", errno);
  }
}

}  // namespace platen
