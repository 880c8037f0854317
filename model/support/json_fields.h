// Reading JSON that comes from outside: parsing with limits, and getters that check type and range.
// For source files: headers that others include stay free of the JSON library.
//
// Every failure is an Error(kModel) naming the file and the field ("text_config.hidden_size").
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace platen {

// Nesting deeper than this is refused; the deepest file of a real snapshot has 6 levels.
inline constexpr int kMaxJsonDepth = 64;

// Parses one JSON value that fills `text`. `base_offset` is where `text` starts in `file`: a syntax
// error names line and column if that is 0, else the offset in the file. Besides syntax errors,
// duplicate keys and deep nesting are refused.
nlohmann::json ParseJson(std::string_view text, const std::string& file, uint64_t base_offset = 0);

// Whether no value of it has more than `levels` containers around it. Of text that is no JSON
// anything may be said.
bool NestsWithin(std::string_view json, int levels);

// JSON where platen keeps its own and anybody may have put something else: a discarded value if it
// is none or nests too deep. (Each level takes forty times the memory of its bracket.)
template <typename Json>
Json ParseShallow(std::string_view text) {
  if (!NestsWithin(text, kMaxJsonDepth)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// The path of a file of a snapshot folder, of a file beside another, and whether there is one (what
// cannot be looked at counts as absent).
std::string SnapshotFile(const std::string& snapshot_dir, const char* name);
std::string SiblingFile(const std::string& path, const char* name);
bool FileExists(const std::string& path);

// ParseJson of a whole file of at most `max_bytes`.
nlohmann::json ReadJsonFile(const std::string& path, size_t max_bytes);

// A short rendering of a value for an error message.
std::string JsonExcerpt(const nlohmann::json& value);

// A view of one JSON object. Does not own the value. A null field counts as absent.
class JsonObject {
 public:
  // `path` names the object inside the file ("text_config"); empty for the file's root.
  // Throws unless `value` is an object.
  JsonObject(const nlohmann::json& value, std::string file, std::string path = {});

  bool Has(const std::string& key) const;
  const nlohmann::json& value() const { return value_; }
  const std::string& file() const { return file_; }
  std::string FieldName(const std::string& key) const;
  [[noreturn]] void Fail(const std::string& key, const std::string& reason) const;

  // The field must be there and of the type, within [low, high].
  const nlohmann::json& Required(const std::string& key) const;
  JsonObject Object(const std::string& key) const;
  int Int(const std::string& key, int low, int high) const;
  int64_t Int64(const std::string& key, int64_t low, int64_t high) const;
  // Int64 for a caller that iterates and has the value of `key` at hand.
  int64_t CheckedInt(const std::string& key, const nlohmann::json& value, int64_t low,
                     int64_t high) const;
  double Number(const std::string& key, double low, double high) const;
  bool Bool(const std::string& key) const;
  std::string String(const std::string& key, size_t max_bytes) const;
  std::vector<double> Numbers(const std::string& key, size_t count, double low, double high) const;
  std::vector<int> Ints(const std::string& key, size_t count, int low, int high) const;
  std::vector<std::string> Strings(const std::string& key, size_t max_count) const;

  // A field whose value this program can only honour in one way: absent or equal to `expected`.
  void ExpectIfPresent(const std::string& key, const nlohmann::json& expected) const;
  // Refuses keys outside `known`, suggesting the one that is probably meant (NearestName).
  void RefuseUnknownKeys(std::initializer_list<std::string_view> known) const;
  void RefuseUnknownKeys(std::span<const std::string_view> known) const;

 private:
  const nlohmann::json& value_;
  std::string file_;
  std::string path_;
};

}  // namespace platen
