// The logits of every position of a prompt and an answer, written to a file: what another
// implementation is compared with.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "model/families/model.h"

namespace platen {

struct Request;
struct Sequence;

// [prompt + answer, vocab]
struct LogitsShape {
  int64_t positions = 0;
  int64_t vocab = 0;
};

// The shape for a request whose answer is `answer`; nothing is computed. Throws Error(kInput) if
// the file would have more than `max_bytes` or the answer an id that the model does not have.
LogitsShape ShapeOfAllLogits(const Model& model, const Request& request,
                             std::span<const TokenId> answer, int64_t max_bytes);

// Writes `path` as f32 [prompt + answer, vocab]: row i has seen rows 0..i (teacher forcing). A few
// rows are in memory at a time. The images of `sequence` are encoded. Throws Error(kEnvironment) if
// the file cannot be written, and what TeacherForcedPass throws.
void WriteAllLogits(const Model& model, const Sequence& sequence, std::span<const TokenId> answer,
                    const std::string& path);

}  // namespace platen
