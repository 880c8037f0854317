#include "model/training/page_record.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "model/support/error.h"
#include "model/support/json_fields.h"
#include "model/support/utf8.h"

namespace platen {
namespace {

static_assert(std::endian::native == std::endian::little, "records are little endian");

constexpr uint32_t kMostHeaderBytes = 1 << 16;
constexpr int64_t kMostTokens = 1 << 20;
constexpr int64_t kMostWidth = 1 << 16;
constexpr int64_t kMostTeachers = 256;
constexpr int64_t kFormat = 1;

template <class Array>
void AppendArray(const Array& values, std::string& out) {
  const auto bytes = std::as_bytes(std::span(values));
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Takes arrays off the front of a payload.
class Arrays {
 public:
  Arrays(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  template <class Array>
  void Take(int64_t count, Array& out) {
    const size_t size = static_cast<size_t>(count) * sizeof(typename Array::value_type);
    if (size > bytes_.size()) Fail("ends before its arrays do");
    out.resize(static_cast<size_t>(count));
    if (size > 0) std::memcpy(out.data(), bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  void TakeIds(int64_t count, int64_t vocab_size, std::vector<TokenId>& out) {
    std::vector<int32_t> ids;
    Take(count, ids);
    for (const int32_t id : ids) {
      if (id < 0 || id >= vocab_size) Fail("has a token that the model does not have");
    }
    out.assign(ids.begin(), ids.end());
  }
  void End() const {
    if (!bytes_.empty()) Fail("goes on behind its arrays");
  }
  [[noreturn]] void Fail(const std::string& reason) const {
    throw Error(ErrorKind::kInput, {.file = file_, .field = "record"}, reason);
  }

 private:
  std::string_view bytes_;
  const std::string& file_;
};

bool Finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return v - v == 0; });
}

std::vector<int32_t> Ints(const std::vector<TokenId>& ids) { return {ids.begin(), ids.end()}; }

}  // namespace

std::string RecordBytes(const TrainingPage& page, const RecordedWith& with) {
  const nlohmann::ordered_json header = {{"format", kFormat},
                                         {"document", ToValidUtf8(page.document)},
                                         {"place", page.place},
                                         {"base_model", with.base_model},
                                         {"precision", with.precision},
                                         {"hidden_size", with.hidden_size},
                                         {"vocab_size", with.vocab_size},
                                         {"prompt", page.prompt},
                                         {"length", page.length()},
                                         {"teacher_width", page.teacher_width}};
  const std::string text = header.dump();
  const auto length = static_cast<uint32_t>(text.size());
  std::string payload(reinterpret_cast<const char*>(&length), sizeof(length));
  payload += text;
  AppendArray(Ints(page.ids), payload);
  for (const auto& axis : page.positions) AppendArray(axis, payload);
  AppendArray(page.hidden.values(), payload);
  AppendArray(Ints(page.teacher_ids), payload);
  AppendArray(page.teacher_logits, payload);
  return payload;
}

TrainingPage ParseRecord(std::string_view payload, const std::string& file, RecordedWith& with) {
  uint32_t length = 0;
  if (payload.size() >= sizeof(length)) std::memcpy(&length, payload.data(), sizeof(length));
  if (length == 0 || length > kMostHeaderBytes || length > payload.size() - sizeof(length)) {
    throw Error(ErrorKind::kInput, {.file = file, .field = "record"}, "has no header");
  }
  payload.remove_prefix(sizeof(length));
  return WithErrorKind(ErrorKind::kInput, [&] {
    const nlohmann::json json = ParseJson(payload.substr(0, length), file, 0);
    const JsonObject header(json, file, "record");
    header.ExpectIfPresent("format", kFormat);
    TrainingPage page;
    page.document = header.String("document", kMostHeaderBytes);
    page.place = header.String("place", 64);
    with.base_model = header.String("base_model", 64);
    with.precision = header.String("precision", 16);
    with.hidden_size = header.Int64("hidden_size", 1, kMostWidth);
    with.vocab_size = header.Int64("vocab_size", 1, 1 << 24);
    const int64_t tokens = header.Int64("length", 2, kMostTokens);
    page.prompt = header.Int64("prompt", 1, tokens - 1);
    page.teacher_width = header.Int64("teacher_width", 0, kMostTeachers);
    Arrays arrays(payload.substr(length), file);
    arrays.TakeIds(tokens, with.vocab_size, page.ids);
    for (auto& axis : page.positions) arrays.Take(tokens, axis);
    // The sizes are within their caps: the product does not overflow.
    Matrix<float>::Values hidden;
    arrays.Take((tokens - 1) * with.hidden_size, hidden);
    const int64_t teachers = (tokens - page.prompt) * page.teacher_width;
    arrays.TakeIds(teachers, with.vocab_size, page.teacher_ids);
    arrays.Take(teachers, page.teacher_logits);
    arrays.End();
    if (!Finite(hidden) || !Finite(page.teacher_logits))
      arrays.Fail("has values that are no numbers");
    page.hidden.Resize(tokens - 1, with.hidden_size);
    page.hidden.values() = std::move(hidden);
    return page;
  });
}

}  // namespace platen
