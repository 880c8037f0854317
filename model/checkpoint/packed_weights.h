// Packed weights kept in a file between runs: when a file is used, when it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/checkpoint/module_table.h"

namespace platen {

struct PackingOptions {
  enum class Use {
    kNever,  // pack into memory
    kAuto,   // use a current file; write one where packing takes long (WorthKeeping)
    kAlways  // use a current file, else write one
  };
  Use use = Use::kNever;
  // Where the file may lie, the preferred place first. A place that cannot be written to is passed
  // over.
  std::vector<std::string> paths = {};
  // What the user may want to know while it takes seconds, and what went wrong.
  std::function<void(const std::string&)> inform = [](const std::string&) {};
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

// How a packed file stands to a snapshot.
struct PackedState {
  enum class Kind { kAbsent, kCurrent, kStale, kDamaged };
  Kind kind = Kind::kAbsent;
  std::string reason;      // of kStale and kDamaged
  uint64_t bytes = 0;      // of kCurrent
  std::string draft_head;  // of kCurrent: the file of draft weights it carries; empty: none
};

// Where the modules of RowsOf::kDraft are, if not in the checkpoint.
struct DraftHeadSource {
  const Checkpoint* file = nullptr;  // of one file; nullptr: they are the checkpoint's own
  std::string path;
  std::string base_model;  // WeightsHash of the model it says it was trained for; empty: nothing
};

// What is packed: the modules of a family, with their group sizes, made from a checkpoint. A view.
struct PackedSubject {
  const ModuleTable& modules;
  const Checkpoint& checkpoint;
  Precision precision = Precision::kF32;
  DraftHeadSource draft_head = {};
};

struct LoadedWeights {
  std::string hash;         // of the checkpoint's content; empty if nobody needed it yet
  std::string packed_path;  // the file the weights are mapped from; empty: they are in memory
  bool draft_head_packed = false;  // those of the subject's draft head too
};

// Hash of every tensor's name, type, shape and bytes, however they are spread over files. Reads the
// whole checkpoint once.
std::string WeightsHash(const Checkpoint& checkpoint);

// The same as far as a packed file at one of the paths knows it without reading weights; else
// empty.
std::string KnownWeightsHash(const Checkpoint& checkpoint, const std::vector<std::string>& paths);

// Whether packing takes so much longer than reading a packed file that kAuto keeps one.
bool WorthKeeping(const Checkpoint& checkpoint, Precision precision);

// Whether the file at `path` was made from these weights in this format, draft weights included.
// Files of the same sizes and headers but other times are compared by content, once.
PackedState StateOfPacked(const std::string& path, const PackedSubject& subject);

// Throws Error(kModel) if the file at `path` is not what was written there. Reads all of it.
void VerifyPacked(const std::string& path);

// Writes the packed weights to `path` through a temporary file. If another process is doing the
// same it waits and keeps the other's; with `replace` a current file is written anew all the same.
// Throws Error(kModel) for weights that are not finite, Error(kEnvironment) if it cannot be
// written.
void WritePacked(const std::string& path, const PackedSubject& subject,
                 const PackingOptions& options, bool replace = false);

// Sets the members of the modules, from a current file if the options allow, else packed now, into
// a file or memory. From a file that carries other draft weights come all modules but those of
// drafts, which are packed into memory: which it carries changes the time of a start, nothing else.
// A file that cannot be read or written is no error, only slower. Throws Error(kModel) for weights
// that are not finite. The checkpoints outlive the members.
LoadedWeights LoadWeights(const PackedSubject& subject, const PackingOptions& options);

}  // namespace platen
