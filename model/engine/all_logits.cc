#include "model/engine/all_logits.h"

#include <algorithm>
#include <vector>

#include "model/engine/prompt_embedding.h"
#include "model/engine/request.h"
#include "model/engine/sequence.h"
#include "model/engine/teacher_forced.h"
#include "model/support/error.h"
#include "model/support/npy_writer.h"

namespace platen {
namespace {

constexpr int64_t kRowsAtOnce = 64;

}  // namespace

LogitsShape ShapeOfAllLogits(const Model& model, const Request& request,
                             std::span<const TokenId> answer, int64_t max_bytes) {
  std::vector<PatchGrid> grids;
  for (const PreparedImage& image : request.images) grids.push_back(image.grid);
  const PromptInput prompt = PromptOf(model, request, grids);
  const LogitsShape shape = {static_cast<int64_t>(prompt.input_ids.size() + answer.size()),
                             model.architecture().text().vocab_size};
  for (const TokenId id : answer) {
    if (id < 0 || id >= shape.vocab) {
      throw Error(ErrorKind::kInput, {},
                  "the answer has the id " + std::to_string(id) + ", the model has 0.." +
                      std::to_string(shape.vocab - 1));
    }
  }
  const int64_t rows_that_fit = max_bytes / (shape.vocab * static_cast<int64_t>(sizeof(float)));
  if (shape.positions > rows_that_fit) {
    throw Error(ErrorKind::kInput, {},
                "logits of " + std::to_string(shape.positions) + " positions and " +
                    std::to_string(shape.vocab) + " ids need more than the " +
                    std::to_string(max_bytes) + " bytes allowed, which hold " +
                    std::to_string(rows_that_fit) +
                    " positions; use a smaller image or a shorter text, or --logits last");
  }
  return shape;
}

void WriteAllLogits(const Model& model, const Sequence& sequence, std::span<const TokenId> answer,
                    const std::string& path) {
  TeacherForcedPass pass(model);
  const ConstMatView hidden = pass.HiddenOfAll(sequence, answer);
  NpyStream file(path, {hidden.rows, model.architecture().text().vocab_size});
  for (int64_t first = 0; first < hidden.rows; first += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, hidden.rows - first);
    const ConstMatView logits = pass.Logits(hidden.Rows(first, count));
    for (int64_t i = 0; i < count; ++i) {
      file.Append({logits.Row(i), static_cast<size_t>(logits.cols)});
    }
  }
  file.Close();
}

}  // namespace platen
