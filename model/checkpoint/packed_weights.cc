#include "model/checkpoint/packed_weights.h"

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "model/checkpoint/packed_file.h"
#include "model/checkpoint/packed_source.h"
#include "model/support/error.h"
#include "model/support/exclusive_file.h"
#include "model/support/hash.h"

namespace platen {
namespace {

// Packing 2.65 GB takes about 5 core-seconds: 256 MB are about a quarter of a second on two cores.
constexpr uint64_t kWorthKeepingBytes = 256 << 20;
// What a packed file leaves free on its disk.
constexpr uint64_t kSpareDiskBytes = 64 << 20;

std::string_view Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string FileName(const MappedFile& file) {
  return std::filesystem::path(file.path()).filename().string();
}

uint64_t BytesOf(const Checkpoint& checkpoint) {
  uint64_t bytes = 0;
  for (const MappedFile& file : checkpoint.files()) bytes += file.data().size();
  return bytes;
}

// The first eight bytes of a safetensors file, checked when it was opened, are the header's length.
std::string HeaderHash(const MappedFile& file) {
  uint64_t length = 0;
  std::memcpy(&length, file.data().data(), sizeof(length));
  return HashHex(Text(file.data().first(sizeof(length) + length)));
}

std::vector<SourceFile> SourcesOf(const Checkpoint& checkpoint) {
  std::vector<SourceFile> sources;
  for (const MappedFile& file : checkpoint.files()) {
    sources.push_back({FileName(file), file.data().size(), HeaderHash(file)});
  }
  return sources;
}

// Names, sizes and times of the checkpoint's files when they were opened.
std::string StampOfSources(const Checkpoint& checkpoint) {
  Hasher hasher;
  for (const MappedFile& file : checkpoint.files()) {
    hasher.Add(FileName(file));
    hasher.Add(std::to_string(file.stamp().bytes));
    hasher.Add(std::to_string(file.stamp().modified_ns));
    hasher.Add(std::to_string(file.stamp().changed_ns));
  }
  return hasher.Hex();
}

struct Look {
  PackedState state;
  std::shared_ptr<const PackedFile> file;  // of kCurrent
};

// Why the file does not belong to the checkpoint; empty if it does.
std::string WhyStale(const PackedFile& file, const PackedSubject& subject) {
  if (file.key().precision != PrecisionName(subject.precision)) {
    return "it holds " + file.key().precision;
  }
  if (file.key().layout != LayoutHash(subject.precision)) return "it was packed in another way";
  const Checkpoint& checkpoint = subject.checkpoint;
  if (file.key().sources != SourcesOf(checkpoint)) return "the snapshot has other weights now";
  const std::string stamp = StampOfSources(checkpoint);
  if (file.stamp() == stamp) return "";
  // Copied, renamed, touched, or changed without a trace in size and header.
  if (file.key().weights_hash != WeightsHash(checkpoint)) return "the snapshot's weights changed";
  file.ReplaceStamp(stamp);
  return "";
}

Look LookAt(const std::string& path, const PackedSubject& subject) {
  using Kind = PackedState::Kind;
  if (!StampOf(path)) return {};
  try {
    auto file = std::make_shared<const PackedFile>(path);
    const std::string why = WhyStale(*file, subject);
    if (!why.empty()) return {{Kind::kStale, why}, nullptr};
    const uint64_t bytes = file->bytes();
    return {{Kind::kCurrent, "", bytes}, std::move(file)};
  } catch (const Error& e) {
    return {{Kind::kDamaged, e.what()}, nullptr};
  }
}

// The weights if a usable file is there, else why not in `state`.
std::optional<LoadedWeights> TryLoad(const std::string& path, const PackedSubject& subject,
                                     PackedState& state) {
  const Look look = LookAt(path, subject);
  state = look.state;
  if (look.file == nullptr) return std::nullopt;
  try {
    PackedFileSource source(look.file, subject.precision, BestPlaceFor(look.file->bytes()));
    LoadModules(subject.modules, subject.checkpoint, source);
    return LoadedWeights{look.file->key().weights_hash, path};
  } catch (const Error& e) {
    // Whole, but with other group sizes than the snapshot's plan asks for, for one.
    state = {PackedState::Kind::kStale, e.what()};
    return std::nullopt;
  }
}

void Report(const std::string& path, const PackedState& state, const PackingOptions& options) {
  if (state.kind == PackedState::Kind::kStale) {
    options.inform(path + ": packed weights are out of date (" + state.reason + ")");
  } else if (state.kind == PackedState::Kind::kDamaged) {
    options.warn(state.reason + "; the packed weights are not used");
  }
}

void CheckSpace(const std::string& path, const PackedSubject& subject) {
  // int8 and its scales stay below two bytes a weight; f32 widens them and keeps a table as it is.
  const uint64_t needed =
      BytesOf(subject.checkpoint) * (subject.precision == Precision::kInt8 ? 1 : 3) +
      kSpareDiskBytes;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const auto space = std::filesystem::space(folder.empty() ? "." : folder, error);
  if (error || space.available >= needed) return;
  throw Error(ErrorKind::kEnvironment, {.file = path, .field = {}},
              "needs up to " + std::to_string(needed >> 20) + " MiB, " +
                  std::to_string(space.available >> 20) + " MiB are free");
}

void CheckUnchanged(const Checkpoint& checkpoint) {
  for (const MappedFile& file : checkpoint.files()) {
    if (StampOf(file.path()) == file.stamp()) continue;
    throw Error(ErrorKind::kEnvironment, {.file = file.path(), .field = {}},
                "changed while its weights were packed");
  }
}

void Pack(ExclusiveFile& file, const PackedSubject& subject) {
  const Checkpoint& checkpoint = subject.checkpoint;
  PackedFileWriter writer(file);
  PackingSource source(writer, subject.precision);
  LoadModules(subject.modules, checkpoint, source);
  writer.Finish({PrecisionName(subject.precision), LayoutHash(subject.precision),
                 WeightsHash(checkpoint), SourcesOf(checkpoint)},
                StampOfSources(checkpoint));
  CheckUnchanged(checkpoint);
  PackedFile(file.temporary_path()).CheckArrays();
}

void MakeFolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw Error(ErrorKind::kEnvironment, {.file = folder.string(), .field = {}},
              "cannot make the folder: " + error.message());
}

}  // namespace

std::string WeightsHash(const Checkpoint& checkpoint) {
  Hasher hasher;
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    hasher.Add(name);
    hasher.Add(DTypeName(tensor.dtype));
    hasher.Add(ShapeText(tensor.shape));
    hasher.Add(Text(tensor.bytes));
    ReleasePagesOf(tensor);
  }
  return hasher.Hex();
}

bool WorthKeeping(const Checkpoint& checkpoint, Precision precision) {
  return precision == Precision::kInt8 && BytesOf(checkpoint) >= kWorthKeepingBytes;
}

PackedState StateOfPacked(const std::string& path, const PackedSubject& subject) {
  PackedState state;
  TryLoad(path, subject, state);
  return state;
}

void VerifyPacked(const std::string& path) { PackedFile(path).CheckArrays(); }

void WritePacked(const std::string& path, const PackedSubject& subject,
                 const PackingOptions& options, bool replace) {
  MakeFolderOf(path);
  ExclusiveFile::Waiting waiting;
  waiting.begins = [&] {
    options.inform(path + ": another process is packing these weights; waiting for it");
  };
  for (;;) {
    const std::unique_ptr<ExclusiveFile> file = ExclusiveFile::Begin(path, waiting);
    // Another process may have finished since the caller looked.
    if (!replace || file == nullptr) {
      if (StateOfPacked(path, subject).kind == PackedState::Kind::kCurrent) return;
    }
    if (file == nullptr) continue;
    CheckSpace(path, subject);
    options.inform("packing the weights into " + path + " (once; later starts are quick)");
    Pack(*file, subject);
    file->Commit();
    return;
  }
}

LoadedWeights LoadWeights(const PackedSubject& subject, const PackingOptions& options) {
  using Use = PackingOptions::Use;
  const bool memory_only = options.use == Use::kNever;
  PackedState state;
  for (const std::string& path : options.paths) {
    if (memory_only) break;
    if (auto loaded = TryLoad(path, subject, state)) return std::move(*loaded);
    Report(path, state, options);
  }
  const bool keep = !memory_only && (options.use == Use::kAlways ||
                                     WorthKeeping(subject.checkpoint, subject.precision));
  for (const std::string& path : options.paths) {
    if (!keep) break;
    try {
      WritePacked(path, subject, options);
      if (auto loaded = TryLoad(path, subject, state)) return std::move(*loaded);
      Report(path, state, options);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::kModel) throw;
      options.inform(std::string(e.what()) + "; packed weights cannot be kept there");
    }
  }
  if (keep) options.inform("the weights are packed in memory, as they will be at the next start");
  CheckpointSource source(subject.precision);
  LoadModules(subject.modules, subject.checkpoint, source);
  return {};
}

}  // namespace platen
