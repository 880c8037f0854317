#include "apps/platen/commands/fetch/cache_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "apps/platen/cli/interrupt.h"
#include "apps/platen/commands/fetch/http_client.h"
#include "model/hub/hub_cache.h"
#include "model/support/atomic_file.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(50);

Folder Make(const std::string& cache, const std::string& below) {
  return Folder::Open(cache, Folder::Missing::kCreate).Below(below, Folder::Missing::kCreate);
}

int64_t SizeOf(const Folder& folder, const std::string& name) {
  const auto info = folder.Look(name);
  return info && S_ISREG(info->st_mode) ? int64_t{info->st_size} : -1;
}

}  // namespace

FileLock::FileLock(const Folder& folder, const std::string& name,
                   const std::function<void()>& on_wait)
    : fd_(folder.OpenFile(name, O_RDWR | O_CREAT)) {
  for (bool waited = false; ::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0;) {
    if (errno != EWOULDBLOCK && errno != EINTR) ThrowFileError(folder.PathOf(name), "lock", errno);
    if (!waited) on_wait();
    waited = true;
    if (Interrupted()) throw FetchInterrupted();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

CacheWriter::CacheWriter(const std::string& cache, const ModelName& model)
    : model_(Make(cache, CacheFolderName(model))),
      blobs_(model_.Below("blobs", Folder::Missing::kCreate)),
      locks_(Make(cache, ".locks/" + CacheFolderName(model))) {}

bool CacheWriter::Has(const HubFile& file) const {
  return SizeOf(blobs_, file.digest) == file.size;
}

int64_t CacheWriter::PartialBytes(const HubFile& file) const {
  return std::max<int64_t>(SizeOf(blobs_, PartialName(file)), 0);
}

void CacheWriter::Link(const std::string& commit, const HubFile& file) const {
  const auto [parent, name] = SplitPath(file.path);
  const Folder folder = model_.Below("snapshots/" + commit + (parent.empty() ? "" : "/" + parent),
                                     Folder::Missing::kCreate);
  std::string target = "../../";
  for (const char c : file.path) target += c == '/' ? "../" : "";
  folder.Link(name, target + "blobs/" + file.digest);
  folder.Sync();
}

void CacheWriter::WriteRef(const std::string& revision, const std::string& commit) const {
  const auto [parent, name] = SplitPath(revision);
  const Folder refs =
      model_.Below("refs" + (parent.empty() ? "" : "/" + parent), Folder::Missing::kCreate);
  AtomicFile file(blobs_, "ref.incomplete", refs, name);
  file.Append(commit);
  file.Commit();
}

int64_t CacheWriter::FreeBytes() const {
  std::error_code error;
  const auto space = std::filesystem::space(model_.path(), error);
  if (error) ThrowFileError(model_.path(), "ask for the free space", error.value());
  return static_cast<int64_t>(space.available);
}

std::string CacheWriter::SnapshotPath(const std::string& commit) const {
  return model_.PathOf("snapshots/" + commit);
}

}  // namespace platen
