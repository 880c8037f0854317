#include "model/training/tuner_files.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace platen {

std::string Exactly(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%a", value);
  return text;
}

void AddTensors(const DraftShape& shape, const std::string& purpose, std::span<const float> all,
                std::vector<StoredTensor>& tensors) {
  size_t offset = 0;
  for (const DraftTensor& tensor : shape.tensors) {
    const auto values = all.subspan(offset, static_cast<size_t>(tensor.size()));
    tensors.push_back({.name = purpose + tensor.name,
                       .dtype = DType::kF32,
                       .shape = tensor.shape,
                       .bytes = std::as_bytes(values),
                       .file = {},
                       .file_offset = 0});
    offset += values.size();
  }
}

[[noreturn]] void RefuseToGoOn(const ErrorLocation& location, const std::string& reason) {
  throw Error(ErrorKind::kInput, location, reason + "; remove the folder \"train\" to begin anew");
}

Checkpoint OpenToGoOn(const Folder& folder, const char* name) {
  try {
    return Checkpoint::OpenFile(folder.PathOf(name));
  } catch (const Error& e) {
    RefuseToGoOn(e.location(), e.reason());
  }
}

int64_t StepsIn(const std::string& text, const ErrorLocation& location, int64_t most) {
  int64_t steps = -1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, steps);
  if (error != std::errc() || stop != end || steps < 0 || steps > most) {
    RefuseToGoOn(location, "must be a number from 0 to " + std::to_string(most));
  }
  return steps;
}

void ReadTensors(const Checkpoint& file, const DraftShape& shape, const std::string& purpose,
                 std::vector<float>& all) {
  for (const DraftTensor& tensor : shape.tensors) {
    const StoredTensor* stored = file.Find(purpose + tensor.name);
    if (stored == nullptr || stored->shape != tensor.shape) {
      RefuseToGoOn({.file = kCheckpoint, .field = purpose + tensor.name},
                   "is missing or has another shape");
    }
    const size_t at = all.size();
    all.resize(at + static_cast<size_t>(tensor.size()));
    WidenToF32(*stored, std::span(all).subspan(at));
  }
}

std::vector<float> ValuesOf(const Parameters<float>& parameters) {
  std::vector<float> all;
  for (size_t t = 0; t < parameters.shape().tensors.size(); ++t) {
    const auto values = parameters.values(t);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

void SetValues(std::span<const float> all, Parameters<float>& parameters) {
  for (size_t t = 0; t < parameters.shape().tensors.size(); ++t) {
    const auto values = parameters.values(t);
    std::copy_n(all.begin(), values.size(), values.begin());
    all = all.subspan(values.size());
  }
}

}  // namespace platen
