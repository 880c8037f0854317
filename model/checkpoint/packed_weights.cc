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

// Of its tensors and of what it says of itself, which decides how heads are computed.
std::string HashOfDraftHead(const Checkpoint& file) {
  Hasher hasher;
  hasher.Add(WeightsHash(file));
  for (const auto& [key, value] : file.metadata()) {
    hasher.Add(key);
    hasher.Add(value);
  }
  return hasher.Hex();
}

PackedStamps StampsOf(const PackedSubject& subject) {
  const Checkpoint* head = subject.draft_head.file;
  return {StampOfSources(subject.checkpoint), head == nullptr ? "" : StampOfSources(*head)};
}

std::optional<PackedDraftHead> DraftHeadOf(const PackedSubject& subject) {
  const DraftHeadSource& head = subject.draft_head;
  if (head.file == nullptr) return std::nullopt;
  return PackedDraftHead{std::filesystem::path(head.path).filename().string(),
                         HashOfDraftHead(*head.file), head.base_model};
}

// The modules that draft, or all others.
ModuleTable Those(const ModuleTable& modules, bool that_draft) {
  ModuleTable table;
  for (const Module& module : modules.modules()) {
    if ((module.rows_of == RowsOf::kDraft) == that_draft) table.Add(module);
  }
  return table;
}

void LoadAll(const PackedSubject& subject, WeightSource& source, WeightSource& draft_source) {
  LoadModules(Those(subject.modules, false), subject.checkpoint, source);
  const Checkpoint* head = subject.draft_head.file;
  LoadModules(Those(subject.modules, true), head == nullptr ? subject.checkpoint : *head,
              draft_source);
}

struct Look {
  PackedState state;
  std::shared_ptr<const PackedFile> file;  // of kCurrent
};

// Whether the file carries the draft weights of the subject.
bool CarriesDraftHead(const PackedFile& file, const PackedSubject& subject) {
  const std::optional<PackedDraftHead>& carried = file.key().draft_head;
  if (!carried || subject.draft_head.file == nullptr) {
    return !carried && subject.draft_head.file == nullptr;
  }
  const PackedStamps stamps = StampsOf(subject);
  if (file.stamps().draft_head == stamps.draft_head) return true;
  if (carried->hash != HashOfDraftHead(*subject.draft_head.file)) return false;
  file.ReplaceStamps(stamps);
  return true;
}

std::string NameOfCarried(const PackedFile& file) {
  return file.key().draft_head ? "the draft head " + file.key().draft_head->name
                               : "the model's own draft head";
}

// Why the file does not belong to the checkpoint; empty if it does.
std::string WhyStale(const PackedFile& file, const PackedSubject& subject) {
  if (file.key().precision != PrecisionName(subject.precision)) {
    return "it holds " + file.key().precision;
  }
  if (file.key().layout != LayoutHash(subject.precision)) return "it was packed in another way";
  const Checkpoint& checkpoint = subject.checkpoint;
  if (file.key().sources != SourcesOf(checkpoint)) return "the snapshot has other weights now";
  const std::string stamp = StampOfSources(checkpoint);
  if (file.stamps().sources == stamp) return "";
  // Copied, renamed, touched, or changed without a trace in size and header.
  if (file.key().weights_hash != WeightsHash(checkpoint)) return "the snapshot's weights changed";
  file.ReplaceStamps({stamp, file.stamps().draft_head});
  return "";
}

Look LookAt(const std::string& path, const PackedSubject& subject) {
  using Kind = PackedState::Kind;
  if (!StampOf(path)) return {};
  try {
    auto file = std::make_shared<const PackedFile>(path);
    const std::string why = WhyStale(*file, subject);
    if (!why.empty()) return {{Kind::kStale, why, 0, ""}, nullptr};
    PackedState state = {Kind::kCurrent, "", file->bytes(), ""};
    if (file->key().draft_head) state.draft_head = file->key().draft_head->name;
    return {std::move(state), std::move(file)};
  } catch (const Error& e) {
    return {{Kind::kDamaged, e.what(), 0, ""}, nullptr};
  }
}

// The weights if a usable file is there, else why not in `state`.
std::optional<LoadedWeights> TryLoad(const std::string& path, const PackedSubject& subject,
                                     PackedState& state) {
  const Look look = LookAt(path, subject);
  state = look.state;
  if (look.file == nullptr) return std::nullopt;
  PackedFileSource source(look.file, subject.precision, BestPlaceFor(look.file->bytes()));
  CheckpointSource other(subject.precision);
  const bool carried = CarriesDraftHead(*look.file, subject);
  try {
    LoadAll(subject, source, carried ? static_cast<WeightSource&>(source) : other);
  } catch (const Error& e) {
    const bool of_draft_head =
        subject.draft_head.file != nullptr && e.location().file == subject.draft_head.path;
    if (of_draft_head) throw;
    // Whole, but with other group sizes than the snapshot's plan asks for, for one.
    state = {PackedState::Kind::kStale, e.what(), 0, ""};
    return std::nullopt;
  }
  if (!carried) {
    state.kind = PackedState::Kind::kStale;
    state.reason = "it carries " + NameOfCarried(*look.file);
  }
  return LoadedWeights{look.file->key().weights_hash, path, carried};
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
  LoadAll(subject, source, source);
  writer.Finish({PrecisionName(subject.precision), LayoutHash(subject.precision),
                 WeightsHash(checkpoint), SourcesOf(checkpoint), DraftHeadOf(subject)},
                StampsOf(subject));
  CheckUnchanged(checkpoint);
  if (subject.draft_head.file != nullptr) CheckUnchanged(*subject.draft_head.file);
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

std::string KnownWeightsHash(const Checkpoint& checkpoint, const std::vector<std::string>& paths) {
  const std::string stamp = StampOfSources(checkpoint);
  for (const std::string& path : paths) {
    if (!StampOf(path)) continue;
    try {
      const PackedFile file(path);
      if (file.stamps().sources == stamp && file.key().sources == SourcesOf(checkpoint)) {
        return file.key().weights_hash;
      }
    } catch (const Error&) {  // damaged: whoever loads from it says so
    }
  }
  return "";
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
  LoadAll(subject, source, source);
  return {};
}

}  // namespace platen
