#include "model/checkpoint/packed_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "model/support/checked.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen {
namespace {

static_assert(std::endian::native == std::endian::little, "packed files are little endian");

// To be raised whenever the layout of this file changes. The kernels' layout of weights has a hash
// in the key.
constexpr uint32_t kFormat = 2;
constexpr char kMagic[8] = {'P', 'L', 'T', 'N', 'P', 'A', 'C', 'K'};
constexpr uint64_t kPreambleBytes = 4096;
constexpr uint64_t kAlignment = 64;            // a cache line, and a register of the widest kernels
constexpr uint64_t kMaxIndexBytes = 16 << 20;  // the released model's has 60 kB
constexpr size_t kMaxRecords = 100'000;
constexpr size_t kMaxArrays = 8;  // of one record
constexpr size_t kMaxNameBytes = 4096;
// Written and hashed at a time: the file is cut at multiples of it. A multiple of the 2 MiB of a
// huge page, because page caches that know huge pages make them of large aligned writes.
constexpr uint64_t kChunkBytes = 8 << 20;

// Bytes from `offset` to the end of its chunk.
uint64_t RestOfChunk(uint64_t offset) { return kChunkBytes - offset % kChunkBytes; }

struct Preamble {
  char magic[8];
  uint32_t format;
  uint32_t unused;
  uint64_t index_offset;
  uint64_t index_bytes;
  char index_hash[kHashHexLength];
  char arrays_hash[kHashHexLength];    // of all bytes from kPreambleBytes to index_offset
  char preamble_hash[kHashHexLength];  // of everything above
  // Replaced in place; if torn they merely equal none.
  char stamp[kHashHexLength];
  char draft_stamp[kHashHexLength];
};
static_assert(sizeof(Preamble) == 32 + 5 * kHashHexLength && sizeof(Preamble) <= kPreambleBytes);

std::string_view Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view Text(const char (&hash)[kHashHexLength]) { return {hash, kHashHexLength}; }

void SetText(char (&hash)[kHashHexLength], const std::string& text) {
  assert(text.size() == kHashHexLength);
  std::memcpy(hash, text.data(), kHashHexLength);
}

std::string HashOf(const Preamble& preamble) {
  return HashHex({reinterpret_cast<const char*>(&preamble), offsetof(Preamble, preamble_hash)});
}

[[noreturn]] void Fail(const std::string& file, const std::string& field, uint64_t offset,
                       const std::string& reason) {
  throw Error(ErrorKind::kModel, {.file = file, .field = field, .offset = offset}, reason);
}

Preamble ReadPreamble(const MappedFile& file) {
  const std::span<const std::byte> data = file.data();
  const auto fail = [&](const std::string& reason) { Fail(file.path(), "preamble", 0, reason); };
  if (data.size() < kPreambleBytes) fail("the file is too short");
  Preamble preamble;
  std::memcpy(&preamble, data.data(), sizeof(preamble));
  if (std::memcmp(preamble.magic, kMagic, sizeof(kMagic)) != 0)
    fail("not a file of packed weights");
  if (preamble.format != kFormat) {
    fail("has format " + std::to_string(preamble.format) + ", this program writes format " +
         std::to_string(kFormat));
  }
  if (Text(preamble.preamble_hash) != HashOf(preamble)) fail("checksum mismatch");
  if (preamble.index_bytes > kMaxIndexBytes || preamble.index_offset < kPreambleBytes ||
      !InRange(preamble.index_offset, preamble.index_bytes, data.size()) ||
      preamble.index_offset + preamble.index_bytes != data.size()) {
    fail("the file has " + std::to_string(data.size()) + " bytes, the index ends at " +
         std::to_string(preamble.index_offset) + " + " + std::to_string(preamble.index_bytes));
  }
  return preamble;
}

// [offset, bytes] of one array, which must lie between preamble and index.
PackedFile::Array ReadPlace(const nlohmann::json& place, const MappedFile& file,
                            const std::string& record, uint64_t index_offset) {
  if (!place.is_array() || place.size() != 2 || !place[0].is_number_unsigned() ||
      !place[1].is_number_unsigned()) {
    Fail(file.path(), record, index_offset, "an array's place must be [offset, bytes]");
  }
  const auto offset = place[0].get<uint64_t>();
  const auto bytes = place[1].get<uint64_t>();
  if (offset < kPreambleBytes || offset % kAlignment != 0 ||
      !InRange(offset, bytes, index_offset)) {
    Fail(file.path(), record, index_offset,
         "an array of " + std::to_string(bytes) + " bytes at " + std::to_string(offset) +
             " does not lie in the file's data");
  }
  return file.data().subspan(offset, bytes);
}

std::optional<PackedDraftHead> ReadDraftHead(const JsonObject& index) {
  if (!index.Has("draft_head")) return std::nullopt;
  const JsonObject head = index.Object("draft_head");
  head.RefuseUnknownKeys({"name", "hash", "base_model"});
  return PackedDraftHead{head.String("name", kMaxNameBytes), head.String("hash", kHashHexLength),
                         head.String("base_model", kHashHexLength)};
}

PackedKey ReadKey(const JsonObject& index) {
  PackedKey key;
  key.precision = index.String("precision", kMaxNameBytes);
  key.layout = index.String("layout", kHashHexLength);
  key.weights_hash = index.String("weights_hash", kHashHexLength);
  const nlohmann::json& sources = index.Required("sources");
  if (!sources.is_array()) index.Fail("sources", "must be a list");
  for (const nlohmann::json& value : sources) {
    const JsonObject source(value, index.file(), "sources");
    source.RefuseUnknownKeys({"name", "bytes", "header_hash"});
    key.sources.push_back({source.String("name", kMaxNameBytes),
                           static_cast<uint64_t>(source.Int64("bytes", 0, INT64_MAX)),
                           source.String("header_hash", kHashHexLength)});
  }
  key.draft_head = ReadDraftHead(index);
  if (key.draft_head && !key.draft_head->base_model.empty() &&
      key.draft_head->base_model != key.weights_hash) {
    index.Fail("draft_head", key.draft_head->name + " was trained for another model");
  }
  return key;
}

}  // namespace

PackedFile::PackedFile(const std::string& path) : file_(path) {
  const Preamble preamble = ReadPreamble(file_);
  const auto index = file_.data().subspan(preamble.index_offset, preamble.index_bytes);
  if (Text(preamble.index_hash) != HashHex(Text(index))) {
    Fail(path, "index", preamble.index_offset, "checksum mismatch");
  }
  stamps_ = {std::string(Text(preamble.stamp)), std::string(Text(preamble.draft_stamp))};
  arrays_hash_ = Text(preamble.arrays_hash);
  ReadIndex(index, preamble.index_offset);
  file_.PreferHugePages();
}

void PackedFile::ReadIndex(std::span<const std::byte> index, uint64_t index_offset) {
  const nlohmann::json json = ParseJson(Text(index), path(), index_offset);
  const JsonObject root(json, path());
  root.RefuseUnknownKeys(
      {"precision", "layout", "weights_hash", "sources", "draft_head", "records"});
  key_ = ReadKey(root);
  const nlohmann::json& records = root.Required("records");
  if (!records.is_array() || records.size() > kMaxRecords) {
    root.Fail("records", "must be a list of at most " + std::to_string(kMaxRecords));
  }
  for (const nlohmann::json& value : records) {
    const JsonObject entry(value, path(), "records");
    entry.RefuseUnknownKeys({"name", "form", "arrays"});
    const std::string name = entry.String("name", kMaxNameBytes);
    Record record{.form = entry.String("form", kMaxNameBytes), .arrays = {}};
    const nlohmann::json& arrays = entry.Required("arrays");
    if (!arrays.is_array() || arrays.size() > kMaxArrays) entry.Fail("arrays", "must be a list");
    for (const nlohmann::json& place : arrays) {
      record.arrays.push_back(ReadPlace(place, file_, name, index_offset));
    }
    if (!records_.emplace(name, std::move(record)).second) root.Fail(name, "stands twice");
  }
}

std::vector<PackedFile::Array> PackedFile::Find(const std::string& name, const std::string& form,
                                                std::span<const uint64_t> lengths) const {
  const auto found = records_.find(name);
  const auto fail = [&](const std::string& reason) {
    throw Error(ErrorKind::kModel, {.file = path(), .field = name}, reason);
  };
  if (found == records_.end()) fail("is missing");
  const Record& record = found->second;
  if (record.form != form) fail("is " + record.form + ", not " + form);
  const bool same =
      std::equal(record.arrays.begin(), record.arrays.end(), lengths.begin(), lengths.end(),
                 [](const Array& array, uint64_t length) { return array.size() == length; });
  if (!same) fail("its arrays do not have the lengths of " + form);
  return record.arrays;
}

void PackedFile::CheckArrays() const {
  const Preamble preamble = ReadPreamble(file_);
  Hasher hasher;
  for (uint64_t at = kPreambleBytes; at < preamble.index_offset;) {
    const uint64_t bytes = std::min(RestOfChunk(at), preamble.index_offset - at);
    const Array chunk = file_.data().subspan(at, bytes);
    hasher.Add(Text(chunk));
    ReleasePages(chunk);
    at += bytes;
  }
  if (hasher.Hex() != arrays_hash_) {
    Fail(path(), "arrays", kPreambleBytes, "checksum mismatch: the file is damaged");
  }
}

void PackedFile::ReplaceStamps(const PackedStamps& stamps) const noexcept {
  const int fd = ::open(path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  struct stat info = {};
  // Another process may have put a newer file there.
  const bool same = ::fstat(fd, &info) == 0 && info.st_dev == file_.stamp().device &&
                    info.st_ino == file_.stamp().inode;
  char both[2 * kHashHexLength] = {};
  static_assert(offsetof(Preamble, draft_stamp) == offsetof(Preamble, stamp) + kHashHexLength);
  stamps.sources.copy(both, kHashHexLength);
  stamps.draft_head.copy(both + kHashHexLength, kHashHexLength);
  // A write that fails leaves a stamp that equals none, as before.
  if (same) (void)!::pwrite(fd, both, sizeof(both), offsetof(Preamble, stamp));
  ::close(fd);
}

PackedFileWriter::PackedFileWriter(ExclusiveFile& file) : file_(file), flushed_(kPreambleBytes) {
  buffer_.reserve(kChunkBytes);
}

void PackedFileWriter::Flush() {
  if (buffer_.empty()) return;
  hasher_.Add(Text(buffer_));
  file_.Write(flushed_, buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

void PackedFileWriter::Append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t room = RestOfChunk(flushed_) - buffer_.size();
    const size_t part = std::min(bytes.size(), room);
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(part));
    bytes = bytes.subspan(part);
    if (part == room) Flush();
  }
}

void PackedFileWriter::Pad() {
  constexpr std::byte kZeros[kAlignment] = {};
  const uint64_t at = flushed_ + buffer_.size();
  Append({kZeros, (kAlignment - at % kAlignment) % kAlignment});
}

void PackedFileWriter::Add(const std::string& name, const std::string& form,
                           std::span<const PackedFile::Array> arrays) {
  assert(arrays.size() <= kMaxArrays);
  Record record{.name = name, .form = form, .places = {}};
  for (const PackedFile::Array& array : arrays) {
    Pad();
    record.places.push_back({flushed_ + buffer_.size(), array.size()});
    Append(array);
  }
  records_.push_back(std::move(record));
}

std::string PackedFileWriter::IndexText(const PackedKey& key) const {
  nlohmann::ordered_json index = {{"precision", key.precision},
                                  {"layout", key.layout},
                                  {"weights_hash", key.weights_hash},
                                  {"sources", nlohmann::ordered_json::array()}};
  for (const SourceFile& source : key.sources) {
    index["sources"].push_back(
        {{"name", source.name}, {"bytes", source.bytes}, {"header_hash", source.header_hash}});
  }
  if (key.draft_head) {
    index["draft_head"] = {{"name", key.draft_head->name},
                           {"hash", key.draft_head->hash},
                           {"base_model", key.draft_head->base_model}};
  }
  index["records"] = nlohmann::ordered_json::array();
  for (const Record& record : records_) {
    nlohmann::ordered_json arrays = nlohmann::ordered_json::array();
    for (const Place& place : record.places) arrays.push_back({place.offset, place.bytes});
    index["records"].push_back({{"name", record.name}, {"form", record.form}, {"arrays", arrays}});
  }
  return index.dump();
}

void PackedFileWriter::Finish(const PackedKey& key, const PackedStamps& stamps) {
  Flush();
  const std::string index = IndexText(key);
  Preamble preamble = {};
  std::memcpy(preamble.magic, kMagic, sizeof(kMagic));
  preamble.format = kFormat;
  preamble.index_offset = flushed_;
  preamble.index_bytes = index.size();
  SetText(preamble.index_hash, HashHex(index));
  SetText(preamble.arrays_hash, hasher_.Hex());
  SetText(preamble.preamble_hash, HashOf(preamble));
  SetText(preamble.stamp, stamps.sources);
  if (key.draft_head) SetText(preamble.draft_stamp, stamps.draft_head);
  std::vector<std::byte> first(kPreambleBytes);
  std::memcpy(first.data(), &preamble, sizeof(preamble));
  file_.Write(flushed_, std::as_bytes(std::span(index)));
  file_.Write(0, first);
}

}  // namespace platen
