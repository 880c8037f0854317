#include "model/support/json_fields.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "model/support/display_text.h"
#include "model/support/edit_distance.h"
#include "model/support/error.h"
#include "model/support/mapped_file.h"

namespace platen {
namespace {

using nlohmann::json;

// "[json.exception.parse_error.101] parse error at line 1, column 2: reason" -> "reason".
std::string Reason(const std::string& text) {
  const size_t at = text.find("column ");
  const size_t colon = at == std::string::npos ? std::string::npos : text.find(": ", at);
  if (colon != std::string::npos) return "not valid JSON: " + text.substr(colon + 2);
  const size_t bracket = text.find("] ");
  return "not valid JSON: " + (bracket == std::string::npos ? text : text.substr(bracket + 2));
}

// Builds the value while it is parsed and refuses what the library's own builder would let pass:
// duplicate keys and deep nesting.
class GuardedBuilder final : public nlohmann::json_sax<json> {
 public:
  GuardedBuilder(std::string_view text, const std::string& file, uint64_t base_offset)
      : text_(text), file_(file), base_offset_(base_offset) {}

  json Take() { return std::move(root_); }

  bool null() override { return Put(nullptr) != nullptr; }
  bool boolean(bool value) override { return Put(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return Put(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return Put(value) != nullptr; }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return Put(value) != nullptr;
  }
  bool string(string_t& value) override { return Put(std::move(value)) != nullptr; }
  bool binary(binary_t& /*value*/) override { return false; }  // does not occur in JSON text
  bool start_object(size_t /*elements*/) override { return Open(json::object()); }
  bool start_array(size_t /*elements*/) override { return Open(json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    const auto [place, is_new] = open_.back()->get_ref<json::object_t&>().try_emplace(name);
    if (!is_new) Fail({.file = file_, .field = name.substr(0, 64)}, "key given twice");
    member_ = &place->second;
    return true;
  }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    const size_t at = position > 0 ? position - 1 : 0;
    ErrorLocation location{.file = file_, .field = {}, .offset = base_offset_ + at};
    // Text inside a binary file has no lines that anybody could count.
    if (base_offset_ == 0) location.place = PlaceOf(text_, at);
    Fail(std::move(location), Reason(error.what()));
  }

 private:
  // Stores a value where the text has it; returns its place.
  json* Put(json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (!open_.back()->is_array()) {
      *member_ = std::move(value);
      return member_;
    }
    auto& array = open_.back()->get_ref<json::array_t&>();
    return &array.emplace_back(std::move(value));
  }
  bool Open(json container) {
    open_.push_back(Put(std::move(container)));
    if (open_.size() > kMaxJsonDepth) {
      Fail({.file = file_, .field = {}},
           "nested more than " + std::to_string(kMaxJsonDepth) + " levels deep");
    }
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  [[noreturn]] static void Fail(ErrorLocation location, const std::string& reason) {
    throw Error(ErrorKind::kModel, std::move(location), reason);
  }

  std::string_view text_;
  const std::string& file_;
  uint64_t base_offset_;
  json root_;
  std::vector<json*> open_;  // containers not yet closed, outermost first
  json* member_ = nullptr;   // where the value of the last key goes
};

}  // namespace

json ParseJson(std::string_view text, const std::string& file, uint64_t base_offset) {
  GuardedBuilder builder(text, file, base_offset);
  json::sax_parse(text.begin(), text.end(), &builder);
  return builder.Take();
}

bool NestsWithin(std::string_view json, int levels) {
  int open = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++open > levels) return false;
    } else if (c == ']' || c == '}') {
      --open;
    }
  }
  return true;
}

std::string SnapshotFile(const std::string& snapshot_dir, const char* name) {
  return (std::filesystem::path(snapshot_dir) / name).string();
}

std::string SiblingFile(const std::string& path, const char* name) {
  return std::filesystem::path(path).replace_filename(name).string();
}

bool FileExists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

json ReadJsonFile(const std::string& path, size_t max_bytes) {
  return ParseJson(ReadSmallFile(path, max_bytes), path);
}

std::string JsonExcerpt(const json& value) {
  constexpr size_t kMaxLength = 60;
  if (value.is_object()) return "an object";
  if (value.is_array() && value.size() > 8) return "an array";
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kMaxLength) text = value.is_string() ? "a long text" : "a long value";
  return text;
}

JsonObject::JsonObject(const json& value, std::string file, std::string path)
    : value_(value), file_(std::move(file)), path_(std::move(path)) {
  if (!value_.is_object()) {
    throw Error(ErrorKind::kModel, {.file = file_, .field = path_},
                "must be an object, not " + JsonExcerpt(value_));
  }
}

std::string JsonObject::FieldName(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void JsonObject::Fail(const std::string& key, const std::string& reason) const {
  throw Error(ErrorKind::kModel, {.file = file_, .field = FieldName(key)}, reason);
}

bool JsonObject::Has(const std::string& key) const {
  const auto found = value_.find(key);
  return found != value_.end() && !found->is_null();
}

const json& JsonObject::Required(const std::string& key) const {
  if (!Has(key)) Fail(key, "is missing");
  return *value_.find(key);
}

JsonObject JsonObject::Object(const std::string& key) const {
  return JsonObject(Required(key), file_, FieldName(key));
}

int JsonObject::Int(const std::string& key, int low, int high) const {
  return static_cast<int>(Int64(key, low, high));
}

int64_t JsonObject::Int64(const std::string& key, int64_t low, int64_t high) const {
  return CheckedInt(key, Required(key), low, high);
}

int64_t JsonObject::CheckedInt(const std::string& key, const json& value, int64_t low,
                               int64_t high) const {
  if (!value.is_number_integer()) Fail(key, "must be a whole number, not " + JsonExcerpt(value));
  // A value above the int64 range is stored unsigned and would wrap.
  const bool too_large = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
  if (too_large || value.get<int64_t>() < low || value.get<int64_t>() > high) {
    Fail(key, "must lie in " + std::to_string(low) + ".." + std::to_string(high) + ", not " +
                  JsonExcerpt(value));
  }
  return value.get<int64_t>();
}

double JsonObject::Number(const std::string& key, double low, double high) const {
  const json& value = Required(key);
  if (!value.is_number()) Fail(key, "must be a number, not " + JsonExcerpt(value));
  const double number = value.get<double>();
  if (!(number >= low && number <= high)) {
    Fail(key, "must lie in " + json(low).dump() + ".." + json(high).dump() + ", not " +
                  JsonExcerpt(value));
  }
  return number;
}

bool JsonObject::Bool(const std::string& key) const {
  const json& value = Required(key);
  if (!value.is_boolean()) Fail(key, "must be true or false, not " + JsonExcerpt(value));
  return value.get<bool>();
}

std::string JsonObject::String(const std::string& key, size_t max_bytes) const {
  const json& value = Required(key);
  if (!value.is_string()) Fail(key, "must be a text, not " + JsonExcerpt(value));
  const std::string& text = value.get_ref<const std::string&>();
  if (text.size() > max_bytes) Fail(key, "is longer than " + std::to_string(max_bytes) + " bytes");
  return text;
}

std::vector<double> JsonObject::Numbers(const std::string& key, size_t count, double low,
                                        double high) const {
  const json& value = Required(key);
  const auto in_range = [&](const json& v) {
    return v.is_number() && v.get<double>() >= low && v.get<double>() <= high;
  };
  if (!value.is_array() || value.size() != count ||
      !std::all_of(value.begin(), value.end(), in_range)) {
    Fail(key, "must be " + std::to_string(count) + " numbers in " + json(low).dump() + ".." +
                  json(high).dump() + ", not " + JsonExcerpt(value));
  }
  return value.get<std::vector<double>>();
}

std::vector<int> JsonObject::Ints(const std::string& key, size_t count, int low, int high) const {
  const json& value = Required(key);
  const auto whole = [](const json& v) { return v.is_number_integer(); };
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), whole)) {
    Fail(key, "must be " + std::to_string(count) + " whole numbers, not " + JsonExcerpt(value));
  }
  std::vector<int> out;
  for (const double number : Numbers(key, count, low, high))
    out.push_back(static_cast<int>(number));
  return out;
}

std::vector<std::string> JsonObject::Strings(const std::string& key, size_t max_count) const {
  const json& value = Required(key);
  const auto text = [](const json& v) { return v.is_string(); };
  if (!value.is_array() || value.size() > max_count ||
      !std::all_of(value.begin(), value.end(), text)) {
    Fail(key, "must be an array of at most " + std::to_string(max_count) + " texts, not " +
                  JsonExcerpt(value));
  }
  return value.get<std::vector<std::string>>();
}

void JsonObject::ExpectIfPresent(const std::string& key, const json& expected) const {
  if (!Has(key) || value_.at(key) == expected) return;
  Fail(key,
       "is " + JsonExcerpt(value_.at(key)) + "; only " + JsonExcerpt(expected) + " is supported");
}

void JsonObject::RefuseUnknownKeys(std::initializer_list<std::string_view> known) const {
  RefuseUnknownKeys(std::span(known.begin(), known.size()));
}

void JsonObject::RefuseUnknownKeys(std::span<const std::string_view> known) const {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [key, unused] : value_.items()) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    const std::string nearest = NearestName(key, names);
    Fail(key, "unknown key; " + (nearest.empty() ? "known: " + Joined(names)
                                                 : "did you mean \"" + nearest + "\"?"));
  }
}

}  // namespace platen
