// A file of packed weights: arrays as the kernels read them, with a table of contents.
//
// Layout, little endian: 4096 bytes with the preamble (below, in packed_file.cc); the arrays, each
// starting at a multiple of 64; the index, a JSON object with the key and the place of every array,
// up to the end of the file. Preamble and index carry checksums, checked when the file is opened;
// the arrays' checksum is for CheckArrays, because reading them all takes longer than a start may.
//
// The file is untrusted as any other: places, lengths and names are checked before they are used.
// A file in use must not be written to or cut short in place, only replaced (as we do): memory that
// is mapped changes with its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/support/exclusive_file.h"
#include "model/support/hash.h"
#include "model/support/mapped_file.h"

namespace platen {

// One checkpoint file the weights came from.
struct SourceFile {
  std::string name;
  uint64_t bytes = 0;
  std::string header_hash;  // of the safetensors header, length included

  bool operator==(const SourceFile&) const = default;
};

// The file of draft weights that took the place of the checkpoint's (families/draft_weights.h).
struct PackedDraftHead {
  std::string name;        // of the file, for messages
  std::string hash;        // of its tensors and of what it says of itself
  std::string base_model;  // weights_hash of the model it says it was trained for; empty: nothing

  bool operator==(const PackedDraftHead&) const = default;
};

// What a packed file was made from.
struct PackedKey {
  std::string precision;
  std::string layout;        // LayoutHash of the program that packed
  std::string weights_hash;  // of every tensor's name, type, shape and bytes of the checkpoint
  std::vector<SourceFile> sources;
  std::optional<PackedDraftHead> draft_head;  // nothing: the checkpoint's own drafts
};

// Sizes and times of the files a packed file was made from, each as one hash.
struct PackedStamps {
  std::string sources;
  std::string draft_head;  // of no meaning without one
};

// Arrays are views of the mapping and live as long as the object. Immutable and thread-safe.
class PackedFile {
 public:
  // Bytes of one array of a record.
  using Array = std::span<const std::byte>;

  // Throws Error(kModel) naming file, field and offset if the file is not a whole one of ours.
  explicit PackedFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  uint64_t bytes() const { return file_.data().size(); }
  const PackedKey& key() const { return key_; }
  // The sources' sizes and times when this file was last known to be current.
  const PackedStamps& stamps() const { return stamps_; }

  // The arrays of record `name`. Throws Error(kModel) unless its form and lengths are these.
  std::vector<Array> Find(const std::string& name, const std::string& form,
                          std::span<const uint64_t> lengths) const;

  // Reads all arrays, without keeping them in memory. Throws Error(kModel) if they are not what was
  // written.
  void CheckArrays() const;

  // Writes other stamps into the file, if its rights allow; they are only a shortcut.
  void ReplaceStamps(const PackedStamps& stamps) const noexcept;

 private:
  struct Record {
    std::string form;
    std::vector<Array> arrays;
  };

  void ReadIndex(std::span<const std::byte> index, uint64_t index_offset);

  MappedFile file_;
  PackedKey key_;
  PackedStamps stamps_;
  std::string arrays_hash_;
  std::map<std::string, Record> records_;
};

// Writes such a file front to back with a few megabytes of memory.
class PackedFileWriter {
 public:
  explicit PackedFileWriter(ExclusiveFile& file);

  // `form` says everything needed to read the arrays: type, shape, grouping. Names are unique.
  // Throws Error(kEnvironment).
  void Add(const std::string& name, const std::string& form,
           std::span<const PackedFile::Array> arrays);

  // Index and preamble; the file is complete then and may be committed.
  void Finish(const PackedKey& key, const PackedStamps& stamps);

 private:
  struct Place {
    uint64_t offset;
    uint64_t bytes;
  };
  struct Record {
    std::string name;
    std::string form;
    std::vector<Place> places;
  };

  void Append(std::span<const std::byte> bytes);
  void Pad();
  void Flush();
  std::string IndexText(const PackedKey& key) const;

  ExclusiveFile& file_;
  std::vector<std::byte> buffer_;  // of the arrays, not yet written
  uint64_t flushed_;               // offset of buffer_[0]
  Hasher hasher_;
  std::vector<Record> records_;
};

}  // namespace platen
