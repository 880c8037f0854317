// Packed weights kept in a file between runs: when a file is used, when it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/families/glm_ocr/weights.h"
#include "model/families/snapshot.h"

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
  std::string reason;  // of kStale and kDamaged
  uint64_t bytes = 0;  // of kCurrent
};

struct LoadedWeights {
  ModelWeights weights;
  std::string hash;         // of the checkpoint's content; empty if nobody needed it yet
  std::string packed_path;  // the file the weights are mapped from; empty: they are in memory
};

// Hash of every tensor's name, type, shape and bytes, however they are spread over files. Reads the
// whole checkpoint once.
std::string WeightsHash(const Checkpoint& checkpoint);

// Whether packing takes so much longer than reading a packed file that kAuto keeps one.
bool WorthKeeping(const Checkpoint& checkpoint, Precision precision);

// Whether the file at `path` was made from this snapshot's weights in this format. Files of the
// same sizes and headers but other times are compared by content, once.
PackedState StateOfPacked(const std::string& path, const Snapshot& snapshot, Precision precision);

// Throws Error(kModel) if the file at `path` is not what was written there. Reads all of it.
void VerifyPacked(const std::string& path);

// Writes the packed weights to `path` through a temporary file. If another process is doing the
// same it waits and keeps the other's; with `replace` a current file is written anew all the same.
// Throws Error(kModel) for weights that are not finite, Error(kEnvironment) if it cannot be
// written.
void WritePacked(const std::string& path, const Snapshot& snapshot, Precision precision,
                 const PackingOptions& options, bool replace = false);

// The weights, from a current file if the options allow, else packed now, into a file or memory.
// A file that cannot be read or written is no error, only slower. Throws Error(kModel) for weights
// that are not finite. The snapshot outlives the weights.
LoadedWeights LoadWeights(const Snapshot& snapshot, Precision precision,
                          const PackingOptions& options);

}  // namespace platen
